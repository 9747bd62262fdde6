import Foundation

/// Where the phones and servers of a demo keep their data.
struct DemoFolder {
  let url: URL
  private let isKept: Bool

  /// A temporary folder, or a new one at `keep`.
  init(keep: String?) throws {
    isKept = keep != nil
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent(
        "firebreak-demo-\(UUID().uuidString)")
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path) is there already; name a folder that is not.")
    }
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  func removeUnlessKept() {
    if !isKept { try? FileManager.default.removeItem(at: url) }
  }
}
