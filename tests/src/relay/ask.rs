//! Asking a relay: as a client, and over the admin API.

use super::Relay;
use crate::client::{Answer, Exchange, http_completion, request};
use crate::openai;
use serde_json::Value;

impl Relay {
    /// Asks ladder `chat` for a stream and reads the whole answer.
    pub async fn ask(&self) -> Answer {
        self.send(&openai::ask("chat")).await
    }

    /// Asks ladder `chat` for one JSON answer.
    pub async fn ask_whole(&self) -> Answer {
        self.send(&openai::ask_whole("chat")).await
    }

    /// Sends this request and reads the whole answer.
    pub async fn send(&self, body: &Value) -> Answer {
        self.open(body).await.finish().await
    }

    /// Sends this request with these headers and reads the whole answer.
    pub async fn send_with(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        let bytes = http_completion(self.address(), headers, body);
        Exchange::start(self.address(), &bytes).await.finish().await
    }

    /// Sends this request; reading is up to the test.
    pub async fn open(&self, body: &Value) -> Exchange {
        let bytes = http_completion(self.address(), &[], body);
        Exchange::start(self.address(), &bytes).await
    }

    /// Asks ladder `chat` for a stream; reading is up to the test.
    pub async fn open_stream(&self) -> Exchange {
        self.open(&openai::ask("chat")).await
    }

    /// Any request on the data listener.
    pub async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let bytes = request(self.address(), method, path, headers, body);
        Exchange::start(self.address(), &bytes).await.finish().await
    }

    /// A GET on the admin listener.
    pub async fn admin_get(&self, path: &str) -> Answer {
        self.admin_call("GET", path, &[], None).await
    }

    /// Any request on the admin listener.
    pub async fn admin_call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let bytes = request(self.admin(), method, path, headers, body);
        Exchange::start(self.admin(), &bytes).await.finish().await
    }
}
