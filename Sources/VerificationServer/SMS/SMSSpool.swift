import Foundation

/// Lays each text into a folder as a JSON file of its own, for a gateway that takes files and removes them.
///
/// Only its owner may read them. A file has its name once it is whole and on the disk: names that begin with a
/// dot are not finished.
public actor SMSSpool: SMSSending {
  private let folder: URL

  /// Lays texts into `folder`, which must exist.
  public init(folder: URL) {
    self.folder = folder
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    do {
      let waiting = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      guard waiting.count < VerificationLimit.smsSpooledMax else { throw SMSFailure.queueFull }
      try lay(message)
    } catch let failure as SMSFailure {
      throw failure
    } catch {
      throw .failed
    }
  }

  private func lay(_ message: SMSMessage) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = try encoder.encode(["phone": message.phone.text, "text": message.text])
    var template = Array(folder.appendingPathComponent(".sms-XXXXXX").path.utf8CString)
    // mkstemp makes it for its owner only.
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SMSFailure.failed }
    defer { close(descriptor) }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    let handle = FileHandle(fileDescriptor: descriptor)
    try handle.write(contentsOf: text + Data("\n".utf8))
    try handle.synchronize()
    let name = URL(fileURLWithPath: path).lastPathComponent.dropFirst() + ".json"
    // A link takes no place that is taken.
    guard link(path, folder.appendingPathComponent(String(name)).path) == 0 else {
      throw SMSFailure.failed
    }
    let directory = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw SMSFailure.failed }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw SMSFailure.failed }
  }
}
