//! The admin plane, as a console and a script use it.

mod access;
mod board;
mod feed;
mod past;

use tests::Reply;

const NO_HEDGE: &str = "hedge = { enabled = false }\nretries = 0";
const PRICE: &str = "price = { input = 2.5, output = 10.0 }";

fn failing() -> Reply {
    Reply::error(500, "no", "server_error", &serde_json::Value::Null)
}
