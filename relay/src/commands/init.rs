//! `belay init`: a config to start from, made of the keys that the environment has.
//!
//! It never holds a key: only the name of the variable that does. It is sound as it
//! is, also where no key was found.

use super::common::{Failed, print_error, print_line, variable};
use shared::Dialect;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Arguments of `belay init`.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// Write it to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write over a file that is there already.
    #[arg(long, requires = "out")]
    force: bool,
}

/// A provider that many have a key of.
struct KnownProvider {
    name: &'static str,
    variable: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    /// One that it has, to begin with.
    model: &'static str,
}

const KNOWN: [KnownProvider; 9] = [
    KnownProvider {
        name: "openai",
        variable: "OPENAI_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.openai.com/v1",
        model: "gpt-4o-mini",
    },
    KnownProvider {
        name: "anthropic",
        variable: "ANTHROPIC_API_KEY",
        dialect: Dialect::AnthropicMessages,
        base_url: "https://api.anthropic.com/v1",
        model: "claude-sonnet-4-5",
    },
    KnownProvider {
        name: "gemini",
        variable: "GEMINI_API_KEY",
        dialect: Dialect::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        model: "gemini-2.5-flash",
    },
    KnownProvider {
        name: "mistral",
        variable: "MISTRAL_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.mistral.ai/v1",
        model: "mistral-small-latest",
    },
    KnownProvider {
        name: "groq",
        variable: "GROQ_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.groq.com/openai/v1",
        model: "llama-3.3-70b-versatile",
    },
    KnownProvider {
        name: "deepseek",
        variable: "DEEPSEEK_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.deepseek.com/v1",
        model: "deepseek-chat",
    },
    KnownProvider {
        name: "openrouter",
        variable: "OPENROUTER_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://openrouter.ai/api/v1",
        model: "openai/gpt-4o-mini",
    },
    KnownProvider {
        name: "together",
        variable: "TOGETHER_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.together.xyz/v1",
        model: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    },
    KnownProvider {
        name: "fireworks",
        variable: "FIREWORKS_API_KEY",
        dialect: Dialect::OpenaiChat,
        base_url: "https://api.fireworks.ai/inference/v1",
        model: "accounts/fireworks/models/llama-v3p3-70b-instruct",
    },
];

pub(super) fn run(args: &InitArgs) -> Result<(), Failed> {
    let text = starter(&|name| variable(name).is_some_and(|key| usable(&key)))?;
    let Some(path) = &args.out else {
        print_line(text.trim_end());
        return Ok(());
    };
    write(path, &text, args.force)?;
    print_error(format_args!(
        "belay: wrote {0}. Terminal it over, then: belay check --config {0}",
        path.display()
    ));
    Ok(())
}

/// Whether the config would take this key.
fn usable(key: &str) -> bool {
    let key = key.trim_end_matches(['\r', '\n']);
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic())
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failed> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let path = path.display();
        Failed(match error.kind() {
            ErrorKind::AlreadyExists => format!(
                "belay: {path} is there already and was left as it is. Name another file, or add --force."
            ),
            _ => format!("belay: {path} cannot be written: {error}. Name another file."),
        })
    })
}

/// The config, over every provider whose variable is set.
fn starter(is_set: &dyn Fn(&str) -> bool) -> Result<String, std::fmt::Error> {
    let (found, missing): (Vec<_>, Vec<_>) = KNOWN.iter().partition(|known| is_set(known.variable));
    let mut text = String::from(HEAD);
    if found.is_empty() {
        text.push_str(
            "\n# No provider's key was found in the environment, so this ladder stands on a server of\n\
             # your own alone. Set one of the variables below, such as\n\
             #   export OPENAI_API_KEY=…\n\
             # and run belay init again, or take out the comment signs of that provider.\n",
        );
        text.push_str(LOCAL);
    }
    for known in &found {
        text.push_str(&provider(known)?);
    }
    let mut rungs: Vec<_> = found.iter().map(|known| known.name).collect();
    if rungs.is_empty() {
        rungs.push("local");
    }
    writeln!(text, "{}rungs = {rungs:?}", LADDER)?;
    text.push_str(LADDER_MORE);
    if !found.is_empty() {
        text.push_str("\n# A server of your own, as the last rung: add \"local\" to the ladder.\n");
        text.push_str(&commented(LOCAL));
    }
    if !missing.is_empty() {
        text.push_str("\n# Providers whose variable was not set:\n");
    }
    for known in missing {
        text.push_str(&commented(&provider(known)?));
    }
    Ok(text)
}

fn provider(
    KnownProvider { name, variable, dialect, base_url, model }: &KnownProvider,
) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    write!(
        text,
        "\n[providers.{name}]\ndialect = \"{dialect}\"\nbase_url = \"{base_url}\"\n\
         api_key = {{ env = \"{variable}\" }}\n\
         \n[rungs.{name}]\nprovider = \"{name}\"\nmodel = \"{model}\"\n\
         # price = {{ input = 0.0, output = 0.0 }}   # USD per million tokens: fill in what you pay\n"
    )?;
    Ok(text)
}

fn commented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") };
    text.trim().lines().map(line).chain(["\n".to_owned()]).collect()
}

const HEAD: &str = "\
# Written by `belay init`. Check it: belay check. Serve it: belay serve.
# A running relay takes a changed file over by itself.

[server]
listen = \"127.0.0.1:8787\"       # OpenAI's SDKs: http://127.0.0.1:8787/v1, Anthropic's: without /v1

[admin]
listen = \"127.0.0.1:8788\"       # requests, metrics

[journal]
path = \"belay.db\"               # beside this file

# Without a client the relay listens on loopback only. The hash comes from: belay hash-key --new
# [clients.web]
# key_sha256 = \"…\"
# stamp = \"full\"               # also tell it rungs and prices; by default \"id\"
";

const LOCAL: &str = "
[providers.local]
dialect = \"openai-chat\"
base_url = \"http://127.0.0.1:11434/v1\"   # Ollama; llama.cpp's server: http://127.0.0.1:8080/v1

[rungs.local]
provider = \"local\"
model = \"llama3.2\"
price = { input = 0.0, output = 0.0 }
";

const LADDER: &str = "
# What clients send as `model`. The first rung answers; the next ones step in, in this order.
[ladders.chat]
";

const LADDER_MORE: &str = "\
# aliases = [\"gpt-4o\"]          # other names that clients may send
clocks = { ttft = \"15s\", inter_token = \"15s\", total = \"90s\" }
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Env, parse};

    struct Set<'a>(&'a [&'a str]);

    impl Env for Set<'_> {
        fn var(&self, name: &str) -> Option<String> {
            self.0.contains(&name).then(|| "UPSTREAM-KEY-PLACEHOLDER".to_owned())
        }

        fn file(&self, _path: &Path) -> std::io::Result<String> {
            Err(ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn whatever_is_set_the_config_is_sound_and_stands_on_it() {
        let all: Vec<_> = KNOWN.iter().map(|known| known.variable).collect();
        let rows: [&[&str]; 5] = [
            &[],
            &["ANTHROPIC_API_KEY"],
            &["GROQ_API_KEY"],
            &["GROQ_API_KEY", "OPENAI_API_KEY"],
            &all,
        ];
        for set in rows {
            let text = starter(&|name| set.contains(&name)).unwrap();
            let config = parse(&text, &Set(set)).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let config = config.config;
            let wanted: Vec<_> = KNOWN
                .iter()
                .filter(|known| set.contains(&known.variable))
                .map(|known| known.name)
                .collect();
            let wanted = if wanted.is_empty() { vec!["local"] } else { wanted };
            let ladder: Vec<_> = config.ladders[0]
                .spec
                .rungs
                .iter()
                .map(|rung| config.rungs[rung.0].name.as_str())
                .collect();
            assert_eq!(ladder, wanted, "{text}");
            assert!(text.contains("OPENROUTER_API_KEY"), "what could be set is named: {text}");
        }
    }

    #[test]
    fn what_is_commented_is_sound_too_once_it_is_not() {
        let text = starter(&|_| false).unwrap();
        let (head, tail) = text.split_once("# Providers whose variable was not set:\n").unwrap();
        let tail: Vec<_> =
            tail.lines().map(|line| line.trim_start_matches('#').trim_start()).collect();
        let all: Vec<_> = KNOWN.iter().map(|known| known.variable).collect();
        let loaded = parse(&format!("{head}{}", tail.join("\n")), &Set(&all)).unwrap();
        assert_eq!(loaded.config.rungs.len(), KNOWN.len() + 1);
    }

    #[test]
    fn a_key_that_no_header_takes_is_not_a_key() {
        for (key, good) in
            [("abc", true), ("abc\n", true), ("", false), ("\n", false), ("a b", false)]
        {
            assert_eq!(usable(key), good, "{key:?}");
        }
    }
}
