// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage

/// The next step of a process whose folder and database may have different shared content.
///
/// The content of the database wins, unless the folder has changed since it was last equal to it, or follows a later
/// revision than the database has, because the database was restored or has lost a commit. Of two device configurations
/// that differ only in their signatures, the later one wins.
enum SharedStep: Equatable {
  /// Nothing: both are as they were.
  case none
  /// The folder has the content of the database: its revision is recorded.
  case record
  /// The content of the folder becomes this revision.
  case store(revision: Int64)
  /// The folder gets the content of the database. `losesChange` is true if the folder was changed meanwhile.
  case load(losesChange: Bool)

  /// The record of a folder that it had the content of the database.
  struct Known: Codable, Equatable, Sendable {
    /// The revision in the database.
    let revision: Int64
    /// The digest of the sealed content in the database.
    let database: Data
    /// The digest of the content of the folder.
    let folder: Data
  }

  /// - Parameters:
  ///   - content: The content of the folder, with its digest.
  ///   - known: The record of the folder; nil for none.
  ///   - stored: The state in the database, with its content; nil for none.
  init(
    _ content: (value: SharedContent, digest: Data), known: Known?,
    stored: (state: SharedState, value: SharedContent)?
  ) {
    let next = (known?.revision ?? 0) + 1
    guard let stored else {
      self = .store(revision: next)
      return
    }
    let isChanged = known.map { $0.folder != content.digest } ?? false
    let isOlder = content.value.isOlder(than: stored.value)
    let isEqual = content.value.withoutPlaces == stored.value.withoutPlaces
    guard let known else {
      self =
        if isEqual {
          .record
        } else if content.value.isNewer(than: stored.value) {
          .store(revision: stored.state.revision + 1)
        } else {
          .load(losesChange: stored.value.isOlder(than: content.value))
        }
      return
    }
    if content.value.isRenewal(of: stored.value) {
      // Nothing else was changed, so nothing is lost.
      self = .store(revision: max(known.revision, stored.state.revision) + 1)
      return
    }
    // The database has lost the revision that the folder has, and got another one.
    let isLost = known.revision >= stored.state.revision && known.database != stored.state.digest
    let losesChange = (isChanged || isLost) && !isEqual
    if known.revision == stored.state.revision, known.database == stored.state.digest {
      self = !isChanged ? .none : isOlder ? .load(losesChange: true) : .store(revision: next)
    } else if known.revision > stored.state.revision, !isOlder {
      self = .store(revision: next)
    } else {
      self = .load(losesChange: losesChange)
    }
  }
}
