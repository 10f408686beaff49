//! The program: all of it is in [`toolscout::cli`].

use std::process::ExitCode;

/// Queries allocate many small things on several threads, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolscout::cli::main()
}
