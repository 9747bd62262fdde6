// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The kind of a file that was given in place of another one, recognized by its first bytes.
package struct ForeignFile: Equatable {
  /// The kind with its article, such as "a gzip file".
  package let kind: String
  /// The action that leads to the wanted file, such as "unpack it with gunzip".
  package let remedy: String

  /// The number of bytes that are looked at.
  package static let headByteCount = 512

  /// Nil if the kind of the file that begins with `head` is not known.
  package init?(_ head: Data) {
    let head = head.prefix(Self.headByteCount)
    guard let (_, kind, remedy) = Self.known(head) else { return nil }
    (self.kind, self.remedy) = (kind, remedy)
  }

  private typealias Known = (beginning: [UInt8], kind: String, remedy: String)

  private static func known(_ head: Data) -> Known? {
    if let known = binary.first(where: { head.starts(with: $0.beginning) }) { return known }
    if head.dropFirst(tarMarkPlace).starts(with: tarMark) {
      return ([], "a tar file", "unpack it with tar -xf")
    }
    let start = String(decoding: head.withoutByteOrderMark, as: UTF8.self)
      .drop(while: \.isWhitespace).lowercased()
    return texts.first { start.utf8.starts(with: $0.beginning) }
  }

  private static let binary: [Known] = [
    ([0x50, 0x4b, 0x03, 0x04], "a zip", "unpack it with unzip"),
    ([0x1f, 0x8b], "a gzip file", "unpack it with gunzip"),
    (Array("BZh".utf8), "a bzip2 file", "unpack it with bunzip2"),
    ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], "an xz file", "unpack it with unxz"),
    ([0x28, 0xb5, 0x2f, 0xfd], "a Zstandard file", "unpack it with unzstd"),
    ([0x04, 0x22, 0x4d, 0x18], "an LZ4 file", "unpack it with unlz4"),
    ([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "a 7z file", "unpack it with 7z x"),
    (Array("Rar!".utf8), "a RAR file", "unpack it with unrar x"),
    ([0xff, 0xfe], "text in UTF-16", "save it in UTF-8"),
    ([0xfe, 0xff], "text in UTF-16", "save it in UTF-8"),
  ]

  /// The beginnings are in lower case.
  private static let texts: [Known] = [
    ("<!doctype html", "a web page", "download the file itself"),
    ("<html", "a web page", "download the file itself"),
    ("<?xml", "an XML document", "read what its server says, and download the file again"),
    ("version https://git-lfs", "a pointer of Git LFS", "fetch the file with git lfs pull"),
    ("-----begin ", "a PEM file", "check the order of the files"),
    ("{", "a JSON document", "check the file name"),
    ("[", "a JSON document", "check the file name"),
    ("uesdb", "a zip in base64", "decode it with base64 -d"),
    ("ek export v1", "an export that was changed as text", "download it again"),
    ("ek export v", "an export of another version", "ask for version 1 of the format"),
  ].map { (Array($0.utf8), $1, $2) }

  /// The position of the mark in the first header of a tar file.
  private static let tarMarkPlace = 257
  private static let tarMark = Array("ustar".utf8)
}
