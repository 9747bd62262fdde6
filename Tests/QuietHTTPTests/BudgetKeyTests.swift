import Testing
import World

@testable import QuietHTTP

@Suite("Whose budget it is")
struct BudgetKeyTests {
  let keys = BudgetKeys(from: SystemRandomness())

  private func key(_ address: String) -> BudgetKey { keys.key(for: AddressPrefix(address)) }

  @Test("An IPv4 address counts whole")
  func four() {
    #expect(key("192.0.2.1") == key("192.0.2.1"))
    #expect(key("192.0.2.1") != key("192.0.2.2"))
  }

  @Test("An IPv6 address counts by its first 64 bits")
  func six() {
    #expect(key("2001:db8:1:2::1") == key("2001:db8:1:2:ffff:ffff:ffff:ffff"))
    #expect(key("2001:db8:1:2::1") != key("2001:db8:1:3::1"))
    #expect(key("fe80::1%eth0") == key("fe80::2"))
  }

  @Test("An IPv4 address written as IPv6 is the same address")
  func mapped() {
    #expect(key("::ffff:192.0.2.1") == key("192.0.2.1"))
    #expect(key("::ffff:192.0.2.1") != key("::ffff:192.0.2.2"))
  }

  @Test(
    "What is no address has no prefix", arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", ":::"])
  func noAddress(_ text: String) {
    #expect(AddressPrefix(text) == nil)
  }

  @Test("Another process makes other keys of the same address, and a name is never an address")
  func secret() {
    let others = BudgetKeys(from: SystemRandomness())
    #expect(key("192.0.2.1") != others.key(for: AddressPrefix("192.0.2.1")))
    #expect(keys.key(for: "192.0.2.1") != key("192.0.2.1"))
  }

  @Test("Neither keys nor prefixes can be read in a log or a dump")
  func redacted() {
    let prefix = AddressPrefix("192.0.2.1")
    for value in [prefix as Any, key("192.0.2.1"), keys] {
      var text = "\(value)"
      dump(value, to: &text)
      #expect(!text.contains("192"))
      #expect(!text.contains("bytes"))
    }
  }
}
