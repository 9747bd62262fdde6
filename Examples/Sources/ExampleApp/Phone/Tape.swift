import ExposureKeys
import Foundation

/// What one phone has sent, to be heard by another: the 31 bytes of each beacon, and when it began.
///
/// A tape stands for the air between two phones, as each process is one phone.
struct Tape {
  /// A beacon that was on the air from `time` on; nil is silence.
  struct Entry: Codable {
    let time: Date
    let payload: Data?
  }

  let file: URL

  /// Adds what is sent from `time` on.
  func record(_ advertisement: Advertisement?, at time: Date) throws {
    let entries =
      try entries() + [Entry(time: time, payload: advertisement.map { Data($0.payload) })]
    try JSONEncoder().encode(entries).write(to: file, options: .atomic)
  }

  /// What was on the air at `time`.
  func advertisement(at time: Date) throws -> Advertisement? {
    try entries().last { $0.time <= time }?.payload.flatMap { Advertisement(payload: $0) }
  }

  private func entries() throws -> [Entry] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file))
  }
}
