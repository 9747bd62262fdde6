import Foundation
import QuietHTTP

/// A server's file of settings, `settings.json` in its folder: JSON, read strictly, no secrets in it.
///
/// Documentation/Serving.md 9.
struct SettingsFile {
  let url: URL

  /// What the file says; nil where there is none, and everything is at its default.
  ///
  /// - Throws: `CommandFailure` that names the field and what it needs.
  func read<Settings: Decodable>(_ type: Settings.Type) throws -> Settings? {
    // A link that leads nowhere is there: to take the defaults for what it should name would be found out
    // too late.
    guard (try? FileManager.default.attributesOfItem(atPath: url.path)) != nil else { return nil }
    let content = try content()
    guard content.count <= SettingLimit.fileBytesMax else {
      throw refusal("it has more than \(SettingLimit.fileBytesMax) bytes.")
    }
    do {
      let settings = try JSONDecoder().decode(type, from: content)
      // Of two fields of one name each reader takes another one.
      guard StrictJSON.accepts(content) else {
        throw refusal(
          "a field is there twice, or it is nested too deep, or not UTF-8 from its first byte on.")
      }
      return settings
    } catch let error as DecodingError {
      throw refusal(error.sentence(otherwise: "it is no JSON object of settings."))
    } catch let failure as CommandFailure {
      throw failure.sentence.hasPrefix(prefix) ? failure : refusal(failure.sentence)
    }
  }

  /// What is in it, and a byte more than may be at most.
  private func content() throws -> Data {
    // Not blocking, so that a pipe of that name is refused and not waited for; only a file has places.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw cannotBeRead }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard lseek(descriptor, 0, SEEK_CUR) == 0,
      let content = try? file.read(upToCount: SettingLimit.fileBytesMax + 1) ?? Data()
    else { throw cannotBeRead }
    return content
  }

  /// Does `work` with what the file says, whose refusals then name the file.
  func naming<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as CommandFailure
      where failure.status == .badInput && FileManager.default.fileExists(atPath: url.path)
    {
      throw failure.sentence.hasPrefix(prefix) ? failure : refusal(failure.sentence)
    }
  }

  private var cannotBeRead: CommandFailure {
    refusal("it cannot be read, or is no plain file: check what is there, and its rights.")
  }

  private var prefix: String { "\(url.path.printable): " }

  private func refusal(_ sentence: String) -> CommandFailure {
    CommandFailure.badInput(prefix + sentence)
  }
}
