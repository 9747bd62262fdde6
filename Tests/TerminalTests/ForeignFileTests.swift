// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Terminal

@Suite("Files of another kind than the wanted one")
struct ForeignFileTests {
  @Test(
    "The kind is recognized by the first bytes",
    arguments: [
      ("PK\u{3}\u{4}abc", "a zip"), ("BZh91AY", "a bzip2 file"), ("Rar!\u{1a}", "a RAR file"),
      ("<!DOCTYPE html><p>404", "a web page"), ("\u{feff}\r\n <HTML>", "a web page"),
      ("<?xml version=\"1.0\"?><Error>", "an XML document"),
      ("{\"error\": 404}", "a JSON document"), ("[1]", "a JSON document"),
      ("version https://git-lfs.github.com/spec/v1", "a pointer of Git LFS"),
      ("-----BEGIN PUBLIC KEY-----", "a PEM file"), ("UEsDBBQAAAAIAA==", "a zip in base64"),
      ("\u{feff}EK Export v1    ", "an export that was changed as text"),
      ("EK Export v2    ", "an export of another version"),
      (String(repeating: "\0", count: 257) + "ustar", "a tar file"),
    ])
  func texts(content: String, kind: String) {
    #expect(ForeignFile(Data(content.utf8))?.kind == kind)
  }

  @Test(
    "Compressed files are recognized, with the program that unpacks them",
    arguments: [
      ([0x1f, 0x8b, 8], "gunzip"), ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0], "unxz"),
      ([0x28, 0xb5, 0x2f, 0xfd], "unzstd"), ([0x04, 0x22, 0x4d, 0x18, 1], "unlz4"),
      ([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "7z x"), ([0xff, 0xfe, 0x2d, 0], "UTF-8"),
      ([0xfe, 0xff, 0, 0x2d], "UTF-8"),
    ] as [([UInt8], String)])
  func compressed(content: [UInt8], program: String) {
    #expect(ForeignFile(Data(content))?.remedy.hasSuffix(program) == true)
  }

  @Test("Another content has no kind", arguments: ["", "P", "hello", "<", "EK Export", "\u{feff}"])
  func unknown(content: String) {
    #expect(ForeignFile(Data(content.utf8)) == nil)
  }
}
