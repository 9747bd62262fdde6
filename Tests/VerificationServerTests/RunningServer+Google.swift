import Foundation
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

/// Google's contract, asked over real HTTP.
extension RunningServer {
  static let keyHMAC = Data(repeating: 3, count: 32)

  /// Asks as an app does.
  func device(_ path: String, _ body: String, headers: [String: String] = [:]) async throws
    -> Answer
  {
    try await post(path, body, headers: ["X-API-Key": deviceKey].merging(headers) { $1 })
  }

  /// Asks as a laboratory does.
  func admin(_ path: String, _ body: String, headers: [String: String] = [:]) async throws
    -> Answer
  {
    try await post(path, body, headers: ["X-API-Key": adminKey].merging(headers) { $1 })
  }

  func issue(_ body: String = #"{"testType":"confirmed"}"#) async throws -> IssueAnswer {
    let answer = try await admin(VerificationRoute.issue, body)
    try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    return try JSONDecoder().decode(IssueAnswer.self, from: answer.body)
  }

  func verify(_ code: String, accept: [String]? = nil, nonce: String? = nil) async throws -> Answer
  {
    let request = VerifyRequest(code: code, accept: accept, nonce: nonce)
    return try await device(
      VerificationRoute.verify, String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
  }

  func verified(_ code: String) async throws -> VerifyAnswer {
    try JSONDecoder().decode(VerifyAnswer.self, from: try await verify(code).body)
  }

  func certify(_ token: String, keyHMAC: Data = Self.keyHMAC) async throws -> Answer {
    let request = CertificateRequest(token: token, ekeyhmac: keyHMAC.base64EncodedString())
    return try await device(
      VerificationRoute.certificate,
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
  }

  func certificate(in answer: Answer) throws -> VerificationCertificate {
    let text = try JSONDecoder().decode(CertificateAnswer.self, from: answer.body)
    return try certificates.verified(text.unverified, at: clock.now).certificate
  }

  func fate(_ uuid: String, _ path: String = VerificationRoute.checkCodeStatus) async throws
    -> CodeStatusAnswer
  {
    let answer = try await admin(path, #"{"uuid":"\#(uuid)"}"#)
    return try JSONDecoder().decode(CodeStatusAnswer.self, from: answer.body)
  }
}

extension RunningServer.Answer {
  /// The refusal of Google's contract, with its status; nil where it is none.
  var refusal: String? {
    guard let failure = try? JSONDecoder().decode(VerificationFailure.self, from: body),
      failure.errorCode == failure.legacyErrorCode
    else { return nil }
    return "\(status) \(failure.errorCode.rawValue)"
  }
}
