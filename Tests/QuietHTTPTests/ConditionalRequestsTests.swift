// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Testing

@testable import QuietHTTP

@Suite("Conditional requests and ranges")
struct ConditionalRequestsTests {
  @Test(
    "A single range of bytes is understood; other forms give the whole document",
    arguments: [
      (nil, RequestedRange.whole), ("bytes=0-99", .part(0..<100)), ("bytes=0-0", .part(0..<1)),
      ("bytes=10-19", .part(10..<20)), ("bytes=99-", .part(99..<100)), ("bytes=0-", .part(0..<100)),
      ("bytes=50-1000", .part(50..<100)), ("bytes=-1", .part(99..<100)),
      ("bytes=-100", .part(0..<100)), ("bytes=-1000", .part(0..<100)), ("bytes=-0", .unsatisfiable),
      ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable),
      ("bytes=99999999999999999999-", .unsatisfiable),
      ("bytes=0-99999999999999999999", .part(0..<100)),
      ("bytes=-99999999999999999999", .part(0..<100)), ("bytes=5-4", .whole), ("bytes=", .whole),
      ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("bytes=0-1,3-4", .whole),
      ("items=0-1", .whole), ("bytes=--1", .whole),
    ] as [(String?, RequestedRange)])
  func ranges(header: String?, range: RequestedRange) {
    #expect(RequestedRange(header, of: 100) == range)
  }

  @Test("No range of an empty document can be satisfied")
  func empty() {
    for header in ["bytes=0-", "bytes=0-1", "bytes=-1"] {
      #expect(RequestedRange(header, of: 0) == .unsatisfiable)
    }
  }

  @Test(
    "If-Match wants one of its tags, as they are; a weak tag is never equal",
    arguments: [
      (nil, true), ("\"1-2\"", true), ("*", true), ("\"a\", \"1-2\"", true), ("\"a\"", false),
      ("W/\"1-2\"", false), ("", false), ("1-2", false),
    ] as [(String?, Bool)])
  func ifMatch(header: String?, isWanted: Bool) {
    var headers = HTTPFields()
    headers[.ifMatch] = header
    #expect(EntityTag(quoting: "1-2").isWanted(by: headers) == isWanted)
  }
}
