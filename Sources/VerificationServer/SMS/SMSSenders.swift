import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import QuietHTTP

/// Sends texts through an HTTP gateway that speaks Twilio's Messages resource: a POST of a form with
/// `To`, `From` and `Body` under HTTP basic authentication. The base address is configuration.
public struct SMSGateway: SMSSending {
  private let endpoint: String
  private let authorization: String
  private let from: String

  /// A gateway at `baseURL` (such as `https://api.twilio.com`) for the account `account`, which shows
  /// `token` and sends from the number or name `from`.
  public init(baseURL: URL, account: String, token: String, from: String) {
    let base = baseURL.absoluteString
    let root = base.hasSuffix("/") ? String(base.dropLast()) : base
    endpoint = "\(root)/2010-04-01/Accounts/\(Self.escaped(account))/Messages.json"
    authorization = "Basic \(Data("\(account):\(token)".utf8).base64EncodedString())"
    self.from = from
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    let answer: (status: UInt, body: Data)
    do {
      answer = try await ask(message)
    } catch {
      throw .failed
    }
    guard !(200..<300).contains(answer.status) else { return }
    throw Self.failure(status: answer.status, body: answer.body)
  }

  private func ask(_ message: SMSMessage) async throws -> (status: UInt, body: Data) {
    var request = HTTPClientRequest(url: endpoint)
    request.method = .POST
    request.headers = [
      "content-type": "application/x-www-form-urlencoded", "authorization": authorization,
    ]
    let form = [("To", message.phone.text), ("From", from), ("Body", message.text)]
    let body = form.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
    request.body = .bytes(ByteBuffer(string: body))
    let answer = try await HTTPClient.withoutRedirects.execute(
      request, timeout: .seconds(VerificationLimit.smsSecondsMax))
    let bytes = try await answer.body.collect(upTo: VerificationLimit.smsAnswerBytesMax)
    return (UInt(answer.status.code), Data(bytes.readableBytesView))
  }

  private static func failure(status: UInt, body: Data) -> SMSFailure {
    let code = (try? JSONDecoder().decode(Refusal.self, from: body))?.code
    if status == 429 || code.map(queueFullCodes.contains) == true { return .queueFull }
    return code.map(badNumberCodes.contains) == true ? .badNumber : .failed
  }

  private struct Refusal: Decodable {
    var code: Int
  }

  /// Twilio's "queue overflow" and "too many requests".
  private static let queueFullCodes: Set<Int> = [20_429, 30_001]
  /// Twilio's "invalid 'To' number", "not a mobile number", "cannot be reached".
  private static let badNumberCodes: Set<Int> = [21_211, 21_214, 21_217, 21_610, 21_614]

  private static func escaped(_ text: String) -> String {
    let free = CharacterSet(charactersIn: "-._~").union(.init(charactersIn: "0"..."9"))
      .union(.init(charactersIn: "A"..."Z")).union(.init(charactersIn: "a"..."z"))
    return text.addingPercentEncoding(withAllowedCharacters: free) ?? ""
  }
}

extension SMSGateway: CustomStringConvertible, CustomReflectable {
  /// It holds the account's token.
  public var description: String { "SMSGateway" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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

/// Writes texts to a file instead of sending them, one JSON object a line: for rehearsals, and for a
/// gateway that takes files.
///
/// Only its owner may read the file. Each line is on the disk before the code counts as sent.
public actor SMSFile: SMSSending {
  private let file: URL

  /// Appends to `file`; its folder must exist.
  public init(file: URL) {
    self.file = file
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    do {
      try append(message)
    } catch {
      throw .failed
    }
  }

  private func append(_ message: SMSMessage) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line =
      try encoder.encode(["phone": message.phone.text, "text": message.text]) + Data("\n".utf8)
    if !FileManager.default.fileExists(atPath: file.path) {
      _ = FileManager.default.createFile(
        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    let end = try handle.seekToEnd()
    do {
      try handle.write(contentsOf: line)
      try handle.synchronize()
    } catch {
      // A line that is only half there would spoil the next one.
      try? handle.truncate(atOffset: end)
      throw error
    }
  }
}
