// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import PWA

@Suite("The bridge's script in documents")
struct BridgeInjectionTests {
  private static let element = #"<script src="/firebreak/bridge.js"></script>"#

  /// `|` marks the place of the script.
  @Test(
    "The script is the first of the head",
    arguments: [
      "<html><head>|<script>1</script></head></html>",
      "<!DOCTYPE html>\n<HTML lang=\"en\">\n<HEAD profile='>'>|<meta charset=utf-8>",
      "<!-- <head> --><html><head>|", "<!-- a > b --><!DOCTYPE html><head\n>|<title>x</title>",
      "<html data-x=\"<head>\"><head>|", "<html title='a>b'><head>|", "<html a=it's><head>|",
      "|<script>'<head>'</script><head>", "<html>|<script>'<head>'</script>",
      "<!doctype html>|<p>no head", "|plain text", "|", "\u{FEFF}<head>|x", "\u{FEFF}|x",
      "<html>|<body><head></body>", "|<header>x</header>", "<html>|<header>", "<head/>|x",
      "<?xml version=\"1.0\"?><html xmlns=\"x\"><head>|", "<!--><head>|x", "<!---><head>|x",
      "<!-- a --!><head>|x", "<!-- never closed <head>|",
    ])
  func place(_ marked: String) {
    let document = marked.replacingOccurrences(of: "|", with: "")
    let expected = marked.replacingOccurrences(of: "|", with: Self.element)
    let result = BridgeInjection.inject(into: Data(document.utf8))
    #expect(String(decoding: result, as: UTF8.self) == expected)
  }

  @Test("All other bytes stay, also those that are no UTF-8")
  func bytes() {
    let document = Data([0xFF, 0xFE, 0x00, 0x0D, 0x0A]) + Data("<head>".utf8) + Data([0x80])
    let result = BridgeInjection.inject(into: document)
    #expect(result == Data(Self.element.utf8) + document)
  }

  @Test("A part of a page that a script loads stays as it is")
  func fragments() {
    let part = Data("<li>row</li>".utf8)
    #expect(BridgeInjection.inject(into: part, isFragmentKept: true) == part)
    for start in ["<!doctype html>", "<html>", "<head>", "<body>"] {
      let page = Data((start + "x").utf8)
      #expect(BridgeInjection.inject(into: page, isFragmentKept: true) != page)
    }
  }
}
