import Foundation

/// The HTML file that a demo ends with.
struct DemoReportFile {
  let url: URL

  /// Makes the folder for a file at `path`. Asked before the story begins, so that nobody waits for a
  /// report that has no place.
  init(path: String) throws {
    url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent()
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var isFolder: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    guard access(folder.path, W_OK | X_OK) == 0, !(isThere && isFolder.boolValue) else {
      throw CommandFailure.badInput(
        "The report cannot be written to \(url.path): name another file with --report.")
    }
  }

  func write(_ html: String) throws {
    do {
      try Data(html.utf8).write(to: url, options: .atomic)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        sentence: "The report could not be written to \(url.path): make room there and try again.")
    }
  }
}
