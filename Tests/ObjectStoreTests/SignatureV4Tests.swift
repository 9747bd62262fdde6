// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ObjectStore

/// The examples of the S3 documentation, "Signature Calculations for the Authorization Header".
@Suite("AWS Signature Version 4")
struct SignatureV4Tests {
  private static let signature = SignatureV4(
    credentials: S3Credentials(
      accessKeyID: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")
  private static let host = "examplebucket.s3.amazonaws.com"
  /// 2013-05-24.
  private static let time = Date(timeIntervalSince1970: 1_369_353_600)
  private static let empty = SignatureV4.hash(Data())

  private func signature(
    _ method: String, _ path: String, query: [(name: String, value: String)] = [],
    headers: [String: String] = [:], body: Data = Data()
  ) -> Substring? {
    var all = headers
    all["host"] = Self.host
    let signed = Self.signature.signedHeaders(
      of: SignatureV4.Request(
        method: method, path: path, query: query, headers: all,
        payloadHash: SignatureV4.hash(body)), at: Self.time)
    return signed["authorization"]?.split(separator: "=").last
  }

  @Test("A part of an object is requested with the documented signature")
  func get() {
    #expect(
      signature("GET", "/test.txt", headers: ["range": "bytes=0-9"])
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
  }

  @Test("The canonical request has the documented hash")
  func canonical() {
    let request = SignatureV4.Request(
      method: "GET", path: "/test.txt",
      headers: [
        "host": Self.host, "range": "bytes=0-9", "x-amz-content-sha256": Self.empty,
        "x-amz-date": "20130524T000000Z",
      ], payloadHash: Self.empty)
    #expect(
      SignatureV4.hash(Data(SignatureV4.canonicalRequest(request).utf8))
        == "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972")
  }

  @Test("An object with a special character in its name is stored with the documented signature")
  func put() {
    #expect(
      signature(
        "PUT", "/test$file.text",
        headers: [
          "date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY",
        ], body: Data("Welcome to Amazon S3.".utf8))
        == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  }

  @Test("Queries with and without values have the documented signatures")
  func queries() {
    #expect(
      signature("GET", "/", query: [("lifecycle", "")])
        == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    #expect(
      signature("GET", "/", query: [("prefix", "J"), ("max-keys", "2")])
        == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
  }

  @Test("Secrets are not in the description of credentials")
  func redacted() {
    let text = "\(Self.signature.credentials)"
    #expect(!text.contains("wJalr") && !text.contains("AKIA"))
  }
}
