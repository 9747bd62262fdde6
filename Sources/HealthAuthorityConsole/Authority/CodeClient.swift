// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import QuietHTTP
import Secrets
import TextEncodings
import VerificationAPI
import World

/// The client of the verification server's admin API, which issues codes and looks them up.
package struct CodeClient: Redacted, Sendable {
  private let server: URL
  /// The host that requests name; nil for that of `server`.
  private let host: String?
  private let apiKey: String
  private let client: HTTPClient
  private let responseSeconds: Int64

  /// A client of the server at `url`, which must use `https` unless it is on this machine.
  ///
  /// - Parameters:
  ///   - host: The host that requests name, for a server that another one listens for; nil for that of `url`.
  ///   - isOwnProcess: True if the server runs in this process, so that nothing crosses a network.
  ///   - responseSeconds: The timeout of a response; nil for `ConsoleLimit.responseSecondsMax`.
  /// - Returns: Nil if the address would send the key over an unencrypted network.
  package init?(
    server url: URL, named host: String? = nil, apiKey: String, isOwnProcess: Bool = false,
    responseSeconds: Int64? = nil
  ) {
    guard isOwnProcess || url.isEncryptedOrLocal else { return nil }
    server = url
    self.host = host
    self.apiKey = apiKey
    client = .withoutRedirects
    self.responseSeconds = responseSeconds ?? ConsoleLimit.responseSecondsMax
  }

  /// Issues one code.
  package func issue(_ request: CodeRequest) async throws(AuthorityFailure) -> IssuedCode {
    let response: IssueResponse = try await send(request.body, to: VerificationRoute.issue)
    guard let issued = IssuedCode(response) else { throw .unavailable }
    return issued
  }

  /// Issues several codes, in requests of at most `batchRequestCodesMax`.
  package func issue(_ requests: [CodeRequest]) async -> [Result<IssuedCode, AuthorityFailure>] {
    var results: [Result<IssuedCode, AuthorityFailure>] = []
    let size = ConsoleLimit.batchRequestCodesMax
    for start in stride(from: 0, to: requests.count, by: size) {
      let part = requests[start..<min(start + size, requests.count)]
      results += await issueAtOnce(Array(part))
    }
    return results
  }

  /// The state of a code.
  package func state(ofCode uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    let response: CodeStatusResponse = try await send(
      CodeHandleRequest(uuid: uuid.uuidString.lowercased()), to: VerificationRoute.checkCodeStatus)
    return CodeState(response)
  }

  /// Ends a code.
  package func expire(code uuid: UUID) async throws(AuthorityFailure) -> CodeState {
    let _: CodeStatusResponse = try await send(
      CodeHandleRequest(uuid: uuid.uuidString.lowercased()), to: VerificationRoute.expireCode)
    return try await state(ofCode: uuid)
  }

  /// Allows a phone a new user report, whether it had reported or not.
  ///
  /// - Parameter phone: The number, E.164.
  package func free(phone: String) async throws(AuthorityFailure) {
    let _: Nothing = try await send(
      FreePhoneRequest(phone: phone), to: VerificationRoute.freePhone)
  }

  /// A response without fields.
  private struct Nothing: Decodable {}

  /// The numbers of codes by day, newest first.
  package func statistics() async throws(AuthorityFailure) -> [CodeStatisticsResponse.Day] {
    let (status, bytes) = try await bytes(request(to: VerificationRoute.statistics, method: .GET))
    guard status == 200,
      let response = JSONDecoder().decodeIfValid(CodeStatisticsResponse.self, from: bytes)
    else { throw Self.failure(bytes) }
    return response.statistics
  }

  /// The numbers of codes by issuer, newest day first.
  ///
  /// - Parameter path: One of the paths of `VerificationRoute` whose response is an `IssuerStatisticsResponse`.
  package func issuers(
    _ path: String
  ) async throws(AuthorityFailure) -> [IssuerStatisticsResponse.Day] {
    let (status, bytes) = try await bytes(request(to: path, method: .GET))
    guard status == 200,
      let response = JSONDecoder().decodeIfValid(IssuerStatisticsResponse.self, from: bytes)
    else { throw Self.failure(bytes) }
    return response.statistics
  }

  private struct Batch: Encodable {
    let codes: [IssueRequest]
  }

  private func issueAtOnce(
    _ requests: [CodeRequest]
  ) async -> [Result<IssuedCode, AuthorityFailure>] {
    do throws(AuthorityFailure) {
      let (_, body) = try await bytes(
        request(Batch(codes: requests.map(\.body)), to: VerificationRoute.batchIssue))
      // A batch with an error has the status of the error, but its body contains the codes that were issued.
      guard let response = JSONDecoder().decodeIfValid(BatchIssueResponse.self, from: body),
        response.codes.count == requests.count
      else { throw Self.failure(body) }
      return response.codes.map { item in
        switch item {
        case .issued(let response):
          IssuedCode(response).map(Result.success) ?? .failure(.unavailable)
        case .refused(let failure): .failure(AuthorityFailure(failure))
        }
      }
    } catch {
      return requests.map { _ in .failure(error) }
    }
  }

  private func send<Response: Decodable>(
    _ body: some Encodable, to path: String
  ) async throws(AuthorityFailure) -> Response {
    let (status, bytes) = try await bytes(request(body, to: path))
    guard status == 200, let response = JSONDecoder().decodeIfValid(Response.self, from: bytes)
    else {
      throw Self.failure(bytes)
    }
    return response
  }

  private func request(to path: String, method: HTTPMethod) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: server.appendingPathComponent(path).absoluteString)
    request.method = method
    if let host { request.headers.add(name: "host", value: host) }
    request.headers.add(name: VerificationRoute.apiKeyHeader, value: apiKey)
    return request
  }

  private func request(
    _ body: some Encodable, to path: String
  ) throws(AuthorityFailure) -> HTTPClientRequest {
    guard let body = JSONEncoder().encodeIfPossible(body) else { throw .unavailable }
    var request = request(to: path, method: .POST)
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(ByteBuffer(bytes: body))
    return request
  }

  private func bytes(
    _ request: HTTPClientRequest
  ) async throws(AuthorityFailure) -> (status: UInt, body: Data) {
    do {
      let response = try await client.execute(
        request, timeout: .seconds(responseSeconds))
      let body = try await response.body.collect(upTo: ConsoleLimit.responseBytesMax)
      return (response.status.code, Data(body.readableBytesView))
    } catch {
      throw .unavailable
    }
  }

  private static func failure(_ body: Data) -> AuthorityFailure {
    JSONDecoder().decodeIfValid(VerificationFailure.self, from: body).map { AuthorityFailure($0) }
      ?? .unavailable
  }
}

/// A request for a code.
package struct CodeRequest: Hashable, Sendable, Redacted {
  /// The UUID by which the code is looked up later. The console chooses it, so that a request that is sent twice does
  /// not issue two codes.
  package var uuid: UUID
  package let testType: TestType
  /// The day on which symptoms began, `YYYY-MM-DD`.
  package let symptomDate: String?
  /// The offset of the office's time zone from UTC in minutes, because its day may have begun before that of UTC.
  package let minutesAheadOfUTC: Int
  /// The phone number for an SMS, E.164.
  package let phone: String?
  /// The label of the text for the SMS; nil for the default one.
  package var smsTemplate: String?
  /// The name of the official, by which the verification server counts the codes of a day.
  package var official: String?

  package init(
    uuid: UUID, testType: TestType, symptomDate: String? = nil, minutesAheadOfUTC: Int = 0,
    phone: String? = nil
  ) {
    self.uuid = uuid
    self.testType = testType
    self.symptomDate = symptomDate
    self.minutesAheadOfUTC = minutesAheadOfUTC
    self.phone = phone
  }

  /// The tests for which the console issues codes. The raw values are those of the verification server.
  package enum TestType: String, CaseIterable, Sendable {
    /// A laboratory test. The code is a PIN, which the app takes.
    case confirmed
    /// A doctor's diagnosis.
    case likely
  }

  /// The body for the verification server.
  var body: IssueRequest {
    var body = IssueRequest(testType: testType.rawValue)
    body.uuid = uuid.uuidString.lowercased()
    body.symptomDate = symptomDate
    if symptomDate != nil { body.tzOffset = Double(minutesAheadOfUTC) }
    body.phone = phone
    if phone != nil { body.smsTemplateLabel = smsTemplate }
    body.externalIssuerID = official
    body.codeForm = testType == .confirmed ? "pin" : "short"
    return body
  }
}

/// A code that was issued. It is shown once.
package struct IssuedCode: Redacted, Hashable, Sendable {
  package let uuid: UUID
  package let code: String
  package let expiresAt: Date

  package init(uuid: UUID, code: String, expiresAt: Date) {
    self.uuid = uuid
    self.code = code
    self.expiresAt = expiresAt
  }

  /// Nil if the UUID of the response is not valid.
  init?(_ response: IssueResponse) {
    guard let uuid = UUID(uuidString: response.uuid) else { return nil }
    self.init(
      uuid: uuid, code: response.code,
      expiresAt: Date(unixSecond: response.expiresAtTimestamp))
  }

  /// The code in groups of three or four, as it is read aloud.
  var grouped: String {
    let size = code.count.isMultiple(of: 4) ? 4 : 3
    return stride(from: 0, to: code.count, by: size).map {
      String(code.dropFirst($0).prefix(size))
    }.joined(separator: " ")
  }
}

/// The state of a code.
package struct CodeState: Hashable, Sendable {
  package let isUsed: Bool
  package let expiresAt: Date

  package init(isUsed: Bool, expiresAt: Date) {
    self.isUsed = isUsed
    self.expiresAt = expiresAt
  }
}

/// The link that opens the app with a PIN, and the text for an SMS that an official sends from a phone.
struct CodeLink: Sendable {
  /// The address of the app's page, such as `https://app.example/`.
  let app: URL

  /// The link. The PIN is in the fragment, which browsers do not send to servers.
  func address(code: String) -> String {
    let base = app.absoluteString
    return "\(base)\(base.hasSuffix("/") ? "" : "/")#/share?pin=\(code)"
  }

  /// A link that opens the phone's own program for SMS with a text.
  static func sms(_ text: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    return "sms:?body=" + (text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }
}

extension AuthorityFailure {
  init(_ failure: VerificationFailure) {
    self =
      switch failure.errorCode {
      case .codeNotFound: .notFound
      case .uuidAlreadyExists: .taken
      case .internalServerError: .unavailable
      default: .notIssued(failure)
      }
  }
}

extension CodeState {
  init(_ response: CodeStatusResponse) {
    self.init(
      isUsed: response.claimed ?? false,
      expiresAt: Date(unixSecond: response.expiresAtTimestamp))
  }
}

extension UUID {
  /// A random UUID (RFC 9562, version 4).
  init(randomness: any Randomness) {
    self.init(bytes: randomness.bytes(16), version: 0x40)
  }

  /// A UUID of 16 bytes with the bits of a version.
  init(bytes: [UInt8], version: UInt8) {
    var bytes = Array((bytes + [UInt8](repeating: 0, count: 16)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | version
    bytes[8] = bytes[8] & 0x3F | 0x80
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The form in lower case.
  var text: String { uuidString.lowercased() }
}
