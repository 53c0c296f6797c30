//! Writes sampling and stop sequences, as far as Anthropic accepts them.

use crate::neutral::Request;

/// With thinking, `top_p` must not be lower than this.
const LEAST_TOP_P: f64 = 0.95;
/// The default of `temperature` and of `top_p`; sending it changes nothing.
const DEFAULT: f64 = 1.0;

/// What is sent.
pub(crate) struct Sampling<'a> {
    pub(crate) stop: Vec<&'a str>,
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u64>,
}

pub(crate) fn write<'a>(
    request: &'a Request,
    thinks: bool,
    left_out: &mut Vec<&'static str>,
) -> Sampling<'a> {
    let mut temperature = request.temperature.map(|asked| asked.clamp(0.0, 1.0));
    let mut changed = temperature != request.temperature;
    let mut top_p = request.top_p;
    let mut top_k = request.top_k;
    if thinks {
        // A field that has its default value may be left out silently.
        changed |= temperature.take().is_some_and(|asked| asked < DEFAULT);
        top_p = top_p.filter(|asked| *asked >= LEAST_TOP_P);
        top_k = None;
    } else if temperature.is_some() && top_p.is_some() {
        // Newer models refuse both fields together, so the one that is not at its default stays.
        let silent = temperature == Some(DEFAULT) && top_p != Some(DEFAULT);
        *if silent { &mut temperature } else { &mut top_p } = None;
    }
    let stop = request.stop.iter().map(String::as_str);
    let stop: Vec<&str> = stop.filter(|text| !text.trim().is_empty()).collect();
    let lost_top_p = top_p.is_none() && request.top_p.is_some_and(|asked| asked < DEFAULT);
    for (name, lost) in [
        ("temperature", changed),
        ("top_p", lost_top_p),
        ("top_k", top_k != request.top_k),
        ("stop", stop.len() < request.stop.len()),
        ("presence_penalty", request.presence_penalty.is_some_and(|asked| asked != 0.0)),
        ("frequency_penalty", request.frequency_penalty.is_some_and(|asked| asked != 0.0)),
        ("seed", request.seed.is_some()),
    ] {
        if lost {
            left_out.push(name);
        }
    }
    Sampling { stop, temperature, top_p, top_k }
}
