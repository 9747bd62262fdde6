// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ObjectStore

@Suite("Addresses and credentials of object stores")
struct S3LocationTests {
  @Test(
    "An address names the host and the path of the bucket",
    arguments: [
      ("s3://keys", "https://keys.s3.us-east-1.amazonaws.com", ""),
      ("s3://keys/a/b/?region=eu-central-1", "https://keys.s3.eu-central-1.amazonaws.com", ""),
      ("s3://keys?style=path", "https://s3.us-east-1.amazonaws.com", "/keys"),
      ("s3://keys?endpoint=https://store.example:9000", "https://store.example:9000", "/keys"),
      ("s3://keys?endpoint=https://store.example/&style=host", "https://keys.store.example", ""),
      ("s3://keys?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000", "/keys"),
    ])
  func valid(text: String, origin: String, path: String) throws {
    let location = try S3Location(text)
    #expect(location.origin == origin && location.path == path)
    #expect(location.prefix == (text.contains("/a/b/") ? "a/b" : ""))
  }

  @Test(
    "Other texts are refused, and so is a store without encryption on another machine",
    arguments: [
      "", "keys", "s3://", "s3://Keys", "s3://ke", "s3://user:secret@keys", "s3://keys:9000",
      "s3://keys/a b", "s3://keys/../other", "s3://keys?region=", "s3://keys?region=A/B",
      "s3://keys?style=other", "s3://keys?secret=1", "s3://keys?region=a&region=b", "s3://keys#a",
      "s3://keys?endpoint=http://store.example", "s3://keys?endpoint=https://store.example/path",
    ])
  func invalid(text: String) {
    #expect(throws: S3Location.Invalid.self) { try S3Location(text) }
  }

  @Test("The file of credentials comes before the environment, and other users may not read it")
  func credentials() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("credentials.json")
    #expect(throws: S3Credentials.Invalid.self) {
      try S3Credentials(file: file, environment: ["AWS_ACCESS_KEY_ID": "id"])
    }
    let environment = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "of the environment"]
    #expect(try S3Credentials(file: file, environment: environment).accessKeyID == "id")
    try Data(#"{"accessKeyID": "file", "secretAccessKey": "of the file"}"#.utf8).write(to: file)
    for (rights, isGood) in [(0o644, false), (0o600, true)] {
      try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: file.path)
      let stored = try? S3Credentials(file: file, environment: environment)
      #expect(stored?.accessKeyID == (isGood ? "file" : nil))
      #expect(stored.map { "\($0)".contains("of the file") } != true)
    }
    try Data(#"{"accessKeyID": "file", "secretAccessKey": ""}"#.utf8).write(to: file)
    let error = #expect(throws: S3Credentials.Invalid.self) {
      try S3Credentials(file: file, environment: environment)
    }
    #expect(error.map { "\($0)".contains(file.path) } == true)
  }
}
