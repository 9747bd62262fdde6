// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WebPages

@Suite("Forms with files")
struct MultipartFormTests {
  private func fields(_ body: String, boundary: String = "B") throws -> [String: FormValue] {
    let fields = try MultipartForm.fields(
      Data(body.utf8), contentType: "multipart/form-data; boundary=\(boundary)", fieldsMax: 3)
    return Dictionary(fields) { first, _ in first }
  }

  private func part(_ name: String, _ value: String) -> String {
    "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
  }

  @Test("Fields and files are read as text, also empty ones and those with line breaks")
  func values() throws {
    let body = part("a", "1") + part("file", "x,y\r\nz") + part("empty", "") + "--B--\r\n"
    #expect(
      try fields(body) == ["a": .text("1"), "file": .text("x,y\r\nz"), "empty": .text("")])
  }

  @Test("A file is read as bytes, which need not be UTF-8; a field must be")
  func files() throws {
    func body(_ disposition: String) -> Data {
      Data("--B\r\nContent-Disposition: form-data; name=\"file\"\(disposition)\r\n\r\n".utf8)
        + Data([0xB3, 0, 0xFF]) + Data("\r\n--B--\r\n".utf8)
    }
    func fields(_ body: Data) throws -> [FormValue] {
      try MultipartForm.fields(
        body, contentType: "multipart/form-data; boundary=B", fieldsMax: 3
      ).map(\.1)
    }
    #expect(try fields(body("; filename=\"a.csv\"")) == [.file(Data([0xB3, 0, 0xFF]))])
    #expect(throws: MalformedForm.self) { try fields(body("")) }
  }

  @Test(
    "A malformed body is refused",
    arguments: [
      "", "--B", "--B\r\n", "--B\r\n--B\r\n", "--B\r\n--B--\r\n", "--C\r\n\r\n--C--",
      "--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--", "--B\r\n\r\n\r\n--B--",
      "--Bx\r\n", "x--B\r\n--B--",
    ])
  func malformed(body: String) {
    #expect(throws: MalformedForm.self) { try fields(body) }
  }

  @Test("More fields than allowed are refused")
  func many() throws {
    let body = (0..<4).map { part("\($0)", "x") }.joined() + "--B--"
    #expect(throws: MalformedForm.self) { try fields(body) }
  }
}
