// SPDX-License-Identifier: Apache-2.0
import ServerOperations
import Terminal
import World

/// The content of a backup for output.
struct BackupReport: Encodable {
  let servers: [String]
  /// The time of the backup in Unix seconds.
  let createdAt: Int64
  let files: [String]

  init(_ content: BackupContent) {
    servers = content.servers.map(\.rawValue)
    createdAt = content.createdAt.unixSecond
    files = content.files
  }
}

extension BackupContent {
  /// The time and the servers of the backup, for messages.
  var sentence: String { "a backup of \(UTCTime(createdAt).text): \(servers.titles)" }
}
