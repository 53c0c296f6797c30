//! `belay hash-key`: client keys are stored as hashes only.

use super::common::{Failed, print_error, print_line};
use sha2::{Digest as _, Sha256};
use std::io::{IsTerminal as _, Read as _};

/// Arguments of `belay hash-key`.
#[derive(Debug, clap::Args)]
pub(super) struct HashKeyArgs {
    /// Make a new key, too, and print it once.
    #[arg(long)]
    new: bool,
}

pub(super) fn run(args: &HashKeyArgs) -> Result<(), Failed> {
    let key = if args.new { fresh()? } else { given()? };
    if args.new {
        print_line(format_args!(
            "# Give this key to the client; it is not stored anywhere:\n# {key}"
        ));
    }
    print_line(format_args!("key_sha256 = \"{}\"", hex(&Sha256::digest(key.as_bytes()))));
    Ok(())
}

fn given() -> Result<String, Failed> {
    if std::io::stdin().is_terminal() {
        print_error("Type or paste the key, then Enter and Ctrl+D. (--new makes one for you.)");
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let key = text.trim();
    if key.is_empty() {
        return Err(Failed(
            "belay: no key on standard input. Pipe it in (it must not stand in your shell's \
             history), or use --new."
                .to_owned(),
        ));
    }
    if key.chars().any(char::is_whitespace) {
        return Err(Failed("belay: a key has no spaces or line breaks in it.".to_owned()));
    }
    Ok(key.to_owned())
}

fn fresh() -> Result<String, Failed> {
    let mut bytes = [0_u8; 24];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("belay-{}", hex(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
