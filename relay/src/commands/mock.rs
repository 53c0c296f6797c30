//! `belay mock`: one simulated provider.

use super::common::{Failed, block_on, print_line};
use ::mock::{MockArgs, serve};

pub(super) fn run(args: MockArgs) -> Result<(), Failed> {
    let clock = || u64::try_from(crate::wall::unix().0 / 1000).unwrap_or(0);
    let args = MockArgs { clock: Some(clock), ..args };
    let listen = args.listen;
    block_on(serve(args, |addr| print_line(format_args!("listening on http://{addr}"))))?
        .map_err(|error| Failed(format!("belay: cannot listen on {listen}: {error}")))
}
