import Foundation

/// The files of a folder, classified by their names.
struct TrialFiles {
  /// The `TEST_info.json` of each trial, in the order of their paths.
  let information: [URL]
  /// The number of files that do not belong to a trial.
  let ignored: Int
  /// The number of logs, including those of phones that are not listed in a trial.
  var logCount: Int { logs.count }
  private let setups: [URL]
  private let logs: [URL]

  init(in folder: URL, filesMax: Int = FieldTrialLimit.files) throws(FieldTrialError) {
    let files = try Self.files(in: folder, max: filesMax)
    information = files.filter { $0.lastPathComponent.hasSuffix("_info.json") }
    setups = files.filter { $0.lastPathComponent.hasSuffix("_setup.json") }
    logs = files.filter { $0.lastPathComponent.hasSuffix(Self.logEnding) }
    ignored = files.count - information.count - setups.count - logs.count
    guard !information.isEmpty else { throw .noTrials(folder.path) }
  }

  /// The setup beside the trial's folder, or in it.
  func setup(of information: URL) -> URL? {
    let trial = information.deletingLastPathComponent()
    let places = [trial.deletingLastPathComponent().path, trial.path]
    return setups.first { places.contains($0.deletingLastPathComponent().path) }
  }

  /// The logs in the trial's folder, by the id of the phone.
  func logs(of information: URL) -> [String: URL] {
    let trial = information.deletingLastPathComponent().path + "/"
    let own = logs.filter { $0.path.hasPrefix(trial) }
    return Dictionary(
      own.map { (String($0.lastPathComponent.dropLast(Self.logEnding.count)), $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The content of a file; nil if it cannot be read or is too large.
  static func content(of file: URL, bytesMax: Int = FieldTrialLimit.fileBytes) -> Data? {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
    defer { try? handle.close() }
    let content = (try? handle.read(upToCount: bytesMax + 1)) ?? nil
    guard let content, content.count <= bytesMax else { return nil }
    return content
  }

  private static let logEnding = "_dumpsys.txt"

  private static func files(in folder: URL, max: Int) throws(FieldTrialError) -> [URL] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
      isFolder.boolValue,
      let walk = FileManager.default.enumerator(
        at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    else { throw .noFolder(folder.path) }
    var files: [URL] = []
    for case let file as URL in walk {
      guard (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true else {
        continue
      }
      guard files.count < max else { throw .tooManyFiles(folder.path) }
      files.append(file)
    }
    return files.sorted { $0.path < $1.path }
  }
}
