import ExposureNotification
import Foundation

/// The exposure windows that `firebreak score` is given. Documentation/CommandLine.md 4.2.
struct WindowsJSON {
  let windows: [ExposureWindow]

  /// Reads the file at `path`, or says which window and field is wrong.
  init(at path: String) throws {
    try self.init(decoding: InputFile(path, what: "file of windows").content)
  }

  /// Reads `data`, which lists at most `windowCountMax` windows.
  init(decoding data: Data, windowCountMax: Int = ScoreLimit.windowCountMax) throws {
    do {
      windows = try JSONDecoder().decode([WindowJSON].self, from: data).map(\.window)
    } catch let error as DecodingError {
      let otherwise = "it is no JSON list of exposure windows."
      throw CommandFailure.badInput("The windows: \(error.sentence(otherwise: otherwise))")
    }
    guard windows.count <= windowCountMax else {
      throw CommandFailure.badInput("The windows: more than \(windowCountMax); split the file.")
    }
  }
}
