// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics

/// The space that the servers' folder uses and has left.
///
/// Sizes are rounded up to mebibytes, and free space down: one upload must not be seen in them.
struct FolderMetrics: Sendable {
  let folder: ServerFolder
  let servers: [ServerName]

  private static let roundedTo = 1 << 20

  var families: [MetricFamily] {
    databaseFamilies + [
      MetricFamily(
        "firebreak_disk_free_bytes", .gauge,
        help: "The space that is left on the disk of the folder, rounded down to mebibytes.", free)
    ]
  }

  /// The sizes of the databases alone, because all realms are on one disk.
  var databaseFamilies: [MetricFamily] {
    [
      MetricFamily(
        "firebreak_database_bytes", .gauge,
        help: "The size of a server's database without its log, rounded up to mebibytes.",
        by: "server", sizes { $0.path }),
      MetricFamily(
        "firebreak_database_log_bytes", .gauge,
        help: "The size of a database's write-ahead log, rounded up to mebibytes.",
        by: "server", sizes { $0.path + "-wal" }),
    ]
  }

  private func sizes(_ path: (URL) -> String) -> [String: Int] {
    var sizes: [String: Int] = [:]
    for server in servers {
      // A database may be missing for a moment; then its size is left out.
      let size =
        try? FileManager.default.attributesOfItem(
          atPath: path(folder.server(server).database))[.size] as? NSNumber
      guard let bytes = size?.intValue else { continue }
      sizes[server.rawValue] = (bytes + Self.roundedTo - 1) / Self.roundedTo * Self.roundedTo
    }
    return sizes
  }

  private var free: [MetricSample] {
    // Some file systems do not tell it.
    let free =
      try? FileManager.default.attributesOfFileSystem(forPath: folder.url.path)[.systemFreeSize]
      as? NSNumber
    let unit = Double(Self.roundedTo)
    return free.map { [MetricSample(($0.doubleValue / unit).rounded(.down) * unit)] } ?? []
  }
}
