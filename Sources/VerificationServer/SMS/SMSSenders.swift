// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import QuietHTTP
import Secrets
import TextEncodings
import World

/// A sender of SMS.
public protocol SMSSending: Sendable {
  /// Sends `message`; returns when the gateway has accepted it.
  func send(_ message: SMSMessage) async throws(SMSFailure)
}

/// An SMS with a code.
public struct SMSMessage: Sendable, Hashable, Redacted {
  /// The phone number of the receiver.
  public let phone: PhoneNumber
  /// The text of the SMS.
  public let text: String
}

/// A phone number in the form of E.164: `+`, then digits, of which the first is not 0.
public struct PhoneNumber: Hashable, Sendable, Redacted {
  /// The number with its plus sign.
  public let text: String

  /// Parses `text`; ignores spaces, hyphens, dots and brackets. Returns nil if it is not a phone number.
  init?(_ text: String) {
    let bare = text.filter { !" -.()".contains($0) }
    let digits = bare.dropFirst()
    guard bare.first == "+", VerificationLimit.phoneDigits.contains(digits.utf8.count),
      digits.allSatisfy({ ("0"..."9").contains($0) }), digits.first != "0"
    else { return nil }
    self.text = bare
  }
}

/// The reason why an SMS was not sent; its code is then withdrawn.
public struct SMSFailure: Error, Sendable {
  /// The reasons, one for each reaction of the client.
  public enum Code: Hashable, Sendable {
    /// The queue of the gateway is full: retry later.
    case queueFull
    /// The number does not exist or receives no SMS: ask for another.
    case badNumber
    /// Any other error: check the gateway, then issue again.
    case failed
  }

  /// The reason.
  public let code: Code
  /// The answer of the gateway or the system's error for the log, without the number and the text; nil if unknown.
  public let answer: String?

  /// The gateway's code of the error; nil if it has sent none.
  public let gatewayCode: Int?

  /// A failure with the reason `code`.
  public init(_ code: Code, answer: String? = nil, gatewayCode: Int? = nil) {
    self.code = code
    self.answer = answer
    self.gatewayCode = gatewayCode
  }

  /// The code under which statistics count the failure: that of the gateway, or the reason.
  var countedCode: String { gatewayCode.map(String.init) ?? "\(code)" }

  /// The queue of the gateway is full.
  public static let queueFull = SMSFailure(.queueFull)
  /// The number does not exist or receives no SMS.
  public static let badNumber = SMSFailure(.badNumber)
  /// Any other error.
  public static let failed = SMSFailure(.failed)
}

extension AttemptCounter {
  /// Counts an error of the gateway.
  func count(_ failure: SMSFailure) {
    count(IssuerCount.Issuer(kind: .smsError, name: failure.countedCode))
  }
}

extension SMSFailure: Hashable {
  /// Failures with the same reason are equal.
  public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// Sends SMS through an HTTP gateway with the interface of Twilio's Messages resource.
///
/// A POST of a form with `To`, `From` and `Body`, with HTTP basic authentication.
public struct SMSGateway: SMSSending, Redacted {
  private let endpoint: String
  private let authorization: String
  private let from: String
  /// The timeout of a request in seconds; tests on busy machines use a longer one.
  var timeoutSeconds = VerificationLimit.smsSecondsMax

  /// Creates a client of the gateway at `baseURL`, such as `https://api.twilio.com`.
  ///
  /// - Parameters:
  ///   - account: The user name of the basic authentication and part of the path.
  ///   - token: The password of the basic authentication.
  ///   - from: The number or name of the sender.
  public init(baseURL: URL, account: String, token: String, from: String) {
    let base = baseURL.absoluteString
    let root = base.hasSuffix("/") ? String(base.dropLast()) : base
    endpoint = "\(root)/2010-04-01/Accounts/\(Self.escaped(account))/Messages.json"
    authorization = "Basic \(Data("\(account):\(token)".utf8).base64EncodedString())"
    self.from = from
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    let response: (status: UInt, body: Data)
    do {
      response = try await post(message)
    } catch {
      throw SMSFailure(.failed, answer: ErrorCause.text(error))
    }
    let code = JSONDecoder().decodeIfValid(GatewayError.self, from: response.body)?.value
    guard !(200..<300).contains(response.status) else { return }
    throw Self.failure(status: response.status, code: code)
  }

  private func post(_ message: SMSMessage) async throws -> (status: UInt, body: Data) {
    var request = HTTPClientRequest(url: endpoint)
    request.method = .POST
    request.headers = [
      "content-type": "application/x-www-form-urlencoded", "authorization": authorization,
    ]
    let form = [("To", message.phone.text), ("From", from), ("Body", message.text)]
    let body = form.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
    request.body = .bytes(ByteBuffer(string: body))
    let response = try await HTTPClient.withoutRedirects.execute(
      request, timeout: .seconds(timeoutSeconds))
    let bytes = try await response.body.collect(upTo: VerificationLimit.smsResponseBytesMax)
    return (UInt(response.status.code), Data(bytes.readableBytesView))
  }

  /// The gateway's codes decide, whatever the status is.
  private static func failure(status: UInt, code: Int?) -> SMSFailure {
    let answer = code.map { "status \(status), code \($0)" } ?? "status \(status)"
    if let code, badNumberCodes.contains(code) {
      return SMSFailure(.badNumber, answer: answer, gatewayCode: code)
    }
    let isFull = code.map(queueFullCodes.contains) ?? false
    return SMSFailure(
      status == 429 || isFull ? .queueFull : .failed, answer: answer, gatewayCode: code)
  }

  /// The body of an error. Its message is not read, because it may quote the number.
  private struct GatewayError: Decodable {
    let value: Int?

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      // Gateways with the same interface send the code as text.
      let number = try? fields.decode(Int.self, forKey: .code)
      value = try number ?? Int(fields.decode(String.self, forKey: .code))
    }

    private enum CodingKeys: CodingKey {
      case code
    }
  }

  /// Twilio's "message rate exceeded", "too many requests", "maximum number of queued messages", "queue overflow",
  /// "carrier rate limit" and "channel rate limit".
  private static let queueFullCodes: Set<Int> = [14_107, 20_429, 21_611, 30_001, 30_022, 63_018]
  /// Twilio's "invalid 'To' number", "not a mobile number", "cannot be reached".
  private static let badNumberCodes: Set<Int> = [21_211, 21_214, 21_217, 21_610, 21_614]

  private static func escaped(_ text: String) -> String {
    let unreserved = CharacterSet(charactersIn: "-._~").union(.init(charactersIn: "0"..."9"))
      .union(.init(charactersIn: "A"..."Z")).union(.init(charactersIn: "a"..."z"))
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}

/// Writes each SMS to a JSON file of its own in a folder, for a gateway that reads files and removes them.
///
/// Only the owner may read the files. A file gets its name when it is complete and synced; the names of
/// unfinished files begin with a dot.
public actor SMSSpool: SMSSending {
  private let folder: URL

  /// Creates a sender that writes to `folder`, which must exist.
  public init(folder: URL) {
    self.folder = folder
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    do {
      let waiting = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      guard waiting.count < VerificationLimit.smsSpooledMax else {
        throw SMSFailure(
          .queueFull, answer: "\(waiting.count) texts wait in the folder")
      }
      let file = folder.appendingPathComponent("sms-\(UUID().text).json")
      try AtomicFile.write(message.jsonLine(), to: file, existing: .keep)
    } catch let failure as SMSFailure {
      throw failure
    } catch {
      throw SMSFailure(.failed, answer: ErrorCause.text(error))
    }
  }
}

/// Appends each SMS to a file instead of sending it, one JSON object per line, for rehearsals.
///
/// Only the owner may read the file. Each line is synced before `send` returns.
public actor SMSFile: SMSSending {
  private let file: URL

  /// Creates a sender that appends to `file`; its folder must exist.
  public init(file: URL) {
    self.file = file
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    do {
      try append(message)
    } catch {
      throw SMSFailure(.failed, answer: ErrorCause.text(error))
    }
  }

  private func append(_ message: SMSMessage) throws {
    let line = try message.jsonLine()
    if !FileManager.default.fileExists(atPath: file.path) {
      _ = FileManager.default.createFile(
        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    let handle = try FileHandle(forWritingTo: file)
    let end = try handle.seekToEnd()
    do {
      try handle.write(contentsOf: line)
      try handle.synchronize()
    } catch {
      // Truncates a partial line, which would corrupt the next one.
      try? handle.truncate(atOffset: end)
      throw error
    }
  }
}

extension SMSMessage {
  /// One JSON object and a line feed.
  fileprivate func jsonLine() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(["phone": phone.text, "text": text]) + Data("\n".utf8)
  }
}
