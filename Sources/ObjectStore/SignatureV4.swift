// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TextEncodings
import World

/// AWS Signature Version 4 for S3, with all values in headers.
///
/// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
struct SignatureV4 {
  let credentials: S3Credentials
  let region: String

  /// A request before it is signed.
  struct Request {
    let method: String
    /// The path of the object, not encoded, with a leading slash.
    let path: String
    /// The query, not encoded.
    var query: [(name: String, value: String)] = []
    /// The headers that are signed, with lower-case names: `host` and those of the caller.
    var headers: [String: String]
    /// The SHA-256 of the body in hexadecimal.
    let payloadHash: String
  }

  /// The headers of `request` with `x-amz-date`, `x-amz-content-sha256` and `authorization`.
  func signedHeaders(of request: Request, at now: Date) -> [String: String] {
    let time = Self.time(now)
    var request = request
    request.headers["x-amz-date"] = time
    request.headers["x-amz-content-sha256"] = request.payloadHash
    request.headers["x-amz-security-token"] = credentials.sessionToken
    let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"
    let canonical = Self.canonicalRequest(request)
    let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.hash(Data(canonical.utf8)))"
    let signature = Self.code(of: text, under: signingKey(on: String(time.prefix(8))))
    request.headers["authorization"] =
      "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope),"
      + "SignedHeaders=\(Self.names(request)),Signature=\(Data(signature).hexadecimal)"
    return request.headers
  }

  static func canonicalRequest(_ request: Request) -> String {
    let headers = request.headers.sorted { $0.key < $1.key }
      .map { "\($0.key):\($0.value.trimmingCharacters(in: .whitespaces))\n" }.joined()
    return [
      request.method, encoded(request.path, keeping: "/"), query(request.query), headers,
      names(request), request.payloadHash,
    ].joined(separator: "\n")
  }

  /// The query as it is sent and signed, sorted by name.
  static func query(_ query: [(name: String, value: String)]) -> String {
    query.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  /// Percent-encodes all bytes except unreserved characters (RFC 3986, 2.3) and `kept`.
  static func encoded(_ text: String, keeping kept: String = "") -> String {
    let plain = Set("-._~".utf8).union(kept.utf8)
    return text.utf8.map { byte in
      let isPlain =
        plain.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte)
      return isPlain
        ? String(UnicodeScalar(byte)) : "%" + Data([byte]).hexadecimal.uppercased()
    }.joined()
  }

  /// SHA-256 in lower-case hexadecimal.
  static func hash(_ data: Data) -> String { Data(SHA256.hash(data: data)).hexadecimal }

  private static func names(_ request: Request) -> String {
    request.headers.keys.filter { $0 != "authorization" }.sorted().joined(separator: ";")
  }

  private func signingKey(on day: String) -> SymmetricKey {
    let start = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
    return [day, region, "s3", "aws4_request"].reduce(start) { key, text in
      SymmetricKey(data: Self.code(of: text, under: key))
    }
  }

  private static func code(of text: String, under key: SymmetricKey) -> HMAC<SHA256>.MAC {
    HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
  }

  /// `20130524T000000Z`.
  private static func time(_ date: Date) -> String {
    var time = time_t(date.unixSecond)
    var parts = tm()
    gmtime_r(&time, &parts)
    func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
    return "\(parts.tm_year + 1_900)\(digits(parts.tm_mon + 1))\(digits(parts.tm_mday))T"
      + "\(digits(parts.tm_hour))\(digits(parts.tm_min))\(digits(parts.tm_sec))Z"
  }
}
