// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PKCS11

@Suite("PKCS#11 URI of a key")
struct TokenKeyURITests {
  @Test("Token, key, module and PIN file are read, with percent-encoded bytes")
  func read() throws {
    let uri = try TokenKeyURI(
      "pkcs11:token=Export%20keys;serial=77;object=260-v1;id=%01%a0;type=private"
        + "?module-path=/usr/lib/module.so&pin-source=/etc/pin")
    #expect(uri.token == TokenKeyURI.TokenName(label: "Export keys", serial: "77"))
    #expect(uri.key == TokenKeyURI.KeyName(label: "260-v1", id: [1, 0xa0]))
    #expect(uri.modulePath == "/usr/lib/module.so" && uri.pinFile == "/etc/pin")
  }

  @Test("The PIN file may be a file URI, and a token may need no PIN")
  func pinFiles() throws {
    let text = "pkcs11:token=t;id=%01?module-path=/m.so"
    #expect(try TokenKeyURI(text).pinFile == nil)
    for source in ["file:/etc/pin", "file:///etc/pin", "/etc/pin"] {
      #expect(try TokenKeyURI(text + "&pin-source=" + source).pinFile == "/etc/pin")
    }
  }

  @Test(
    "A URI that is not complete, ambiguous or has the PIN itself is refused with what to change",
    arguments: [
      ("token=t;object=k?module-path=/m.so", "begin with pkcs11:"),
      ("pkcs11:object=k?module-path=/m.so", "needs token"),
      ("pkcs11:token=t?module-path=/m.so", "needs object"),
      ("pkcs11:token=t;object=k", "needs module-path"),
      ("pkcs11:token=t;object=k?module-path=/m.so&pin-value=1234", "change the PIN"),
      ("pkcs11:token=t;object=k?module-path=m.so", "module-path must be an absolute path"),
      ("pkcs11:token=t;object=k;type=public?module-path=/m.so", "type must be private"),
      ("pkcs11:token=t;object=k;slot-id=1?module-path=/m.so", "unknown attribute \"slot-id\""),
      ("pkcs11:token=t;token=u;object=k?module-path=/m.so", "token twice"),
      ("pkcs11:token=%4;object=k?module-path=/m.so", "percent-encoded"),
      ("pkcs11:token=%+1;object=k?module-path=/m.so", "percent-encoded"),
      ("pkcs11:token=%ff;object=k?module-path=/m.so", "not text"),
      ("pkcs11:token=t%00;object=k?module-path=/m.so", "not text"),
      ("pkcs11:token=;object=k?module-path=/m.so", "empty"),
      ("pkcs11:token=t;object=k?module-path=/m.so&pin-source=https://a/b", "must be a file"),
      ("pkcs11:token=t;object=k?module-path=/m.so&pin-source=%7Ccat", "must be a file"),
      ("pkcs11:token=t;object=k?module-path=/m.so&pin-source=export.pin", "absolute path"),
    ])
  func refused(text: String, fault: String) throws {
    let error = #expect(throws: TokenKeyError.self) { try TokenKeyURI(text) }
    let description = "\(try #require(error))"
    #expect(description.contains(fault), "\(description)")
    #expect(!description.contains("1234"))
  }
}
