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
