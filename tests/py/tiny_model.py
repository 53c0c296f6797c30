"""Writes a tiny llama model with seeded random weights.

No model can be downloaded in CI, and none is needed: what the tests want from llama.cpp is its
HTTP server, its timing and its way of ending, not sense. Half a megabyte, 64 words to say, and an
end-of-text token that is practically never chosen, so that an answer runs until `max_tokens`.
"""

import sys

import gguf
import numpy as np

EMBED, FEED, LAYERS, HEADS, CONTEXT = 64, 128, 2, 4, 65536
WORDS = [a + b for a in ("ba", "lo", "mi", "ru", "te", "va", "no", "ki")
         for b in ("la", "ren", "so", "tu", "mar", "del", "pi", "gon")]
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def write(path, seed=7):
    """Write the model to `path`."""
    rng = np.random.default_rng(seed)
    kind = gguf.TokenType
    vocab = [("<unk>", kind.UNKNOWN), ("<s>", kind.CONTROL), ("</s>", kind.CONTROL)]
    vocab += [(f"<0x{byte:02X}>", kind.BYTE) for byte in range(256)]
    vocab += [("\u2581" + word, kind.NORMAL) for word in WORDS]

    out = gguf.GGUFWriter(path, "llama")
    out.add_name("belay-tiny")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(EMBED)
    out.add_feed_forward_length(FEED)
    out.add_block_count(LAYERS)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_rope_dimension_count(EMBED // HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(len(vocab))
    out.add_tokenizer_model("llama")
    out.add_token_list([text for text, _ in vocab])
    out.add_token_scores([0.0] * len(vocab))
    out.add_token_types([int(which) for _, which in vocab])
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    out.add_chat_template(TEMPLATE)

    def matrix(name, rows, columns, scale=0.2):
        data = rng.standard_normal((rows, columns)).astype(np.float32) * scale
        out.add_tensor(name, data)

    matrix("token_embd.weight", len(vocab), EMBED)
    # Only the words have a say in the answer: the rest of the vocabulary stays near zero.
    head = rng.standard_normal((len(vocab), EMBED)).astype(np.float32)
    head[: len(vocab) - len(WORDS)] = 0.0
    out.add_tensor("output.weight", head)
    out.add_tensor("output_norm.weight", np.ones(EMBED, dtype=np.float32))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            out.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(EMBED, dtype=np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{layer}.{name}.weight", EMBED, EMBED)
        for name in ("ffn_gate", "ffn_up"):
            matrix(f"blk.{layer}.{name}.weight", FEED, EMBED)
        matrix(f"blk.{layer}.ffn_down.weight", EMBED, FEED)

    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    write(sys.argv[1])
