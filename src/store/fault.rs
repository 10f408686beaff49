//! From what SQLite says to what is to be done about it.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::registry::Error;

/// The fault of an operation on the file at `path`.
pub(super) fn of(path: &Path) -> impl Fn(rusqlite::Error) -> Error + '_ {
    move |error| {
        let place = path.display().to_string();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full { place },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Error::ReadOnly { place, reason }
            }
            Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { place, reason },
            Some(ErrorCode::NotADatabase) => Error::Foreign { place },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked { place },
            _ => Error::Failed { place, reason },
        }
    }
}
