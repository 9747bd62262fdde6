import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 4.5.
@Suite("Networks from which a route may be asked")
struct NetmasksTests {
  @Test(
    "A network begins at its first address and ends at its last, in IPv4 and in IPv6",
    arguments: [
      ("192.0.2.64/26", ["192.0.2.63", "192.0.2.128"], ["192.0.2.64", "192.0.2.127"]),
      ("192.0.2.7", ["192.0.2.6", "192.0.2.8"], ["192.0.2.7"]),
      ("192.0.2.7/32", ["192.0.2.6", "192.0.2.8"], ["192.0.2.7"]),
      ("192.0.2.6/31", ["192.0.2.5", "192.0.2.8"], ["192.0.2.6", "192.0.2.7"]),
      ("10.0.0.0/7", ["9.255.255.255", "12.0.0.0"], ["10.0.0.0", "11.255.255.255"]),
      ("0.0.0.0/0", ["::1", "2001:db8::1"], ["0.0.0.0", "255.255.255.255"]),
      ("::/0", ["192.0.2.1"], ["::1", "ffff::1"]),
      (
        "2001:db8:0:10::/60", ["2001:db8:0:f:ffff:ffff:ffff:ffff", "2001:db8:0:20::"],
        ["2001:db8:0:10::", "2001:db8:0:1f:ffff:ffff:ffff:ffff"]
      ),
      (
        "2001:db8::8/126", ["2001:db8::7", "2001:db8::c", "192.0.2.8"],
        ["2001:db8::8", "2001:db8::b"]
      ),
      ("2001:db8::8", ["2001:db8::7", "2001:db8::9"], ["2001:db8::8"]),
      (
        "::ffff:192.0.2.64/122", ["192.0.2.63", "192.0.2.128"],
        ["192.0.2.64", "::ffff:192.0.2.127"]
      ),
    ])
  func edges(network: String, outside: [String], inside: [String]) throws {
    let masks = try #require(Netmasks([network]))
    for address in inside + outside {
      #expect(masks.contain(NumericAddress(address)) == inside.contains(address), "\(address)")
    }
  }

  @Test("Of several networks one is enough; a client without an address is in none")
  func several() throws {
    let masks = try #require(Netmasks(["192.0.2.0/24", "2001:db8::/32"]))
    for (address, isInside) in [
      ("192.0.2.1", true), ("2001:db8::1", true), ("198.51.100.1", false), ("2001:db9::1", false),
    ] {
      #expect(masks.contain(NumericAddress(address)) == isInside, "\(address)")
    }
    #expect(!masks.contain(nil))
    #expect(Netmasks.everybody.contain(nil))
    #expect(Netmasks.everybody.contain(NumericAddress("192.0.2.1")))
  }

  @Test(
    "What is no network is refused, alone and among others",
    arguments: [
      "", "*", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "a/8", "::/129",
      "1.2.3.4/8/8", "10.0.0.0/",
      "::ffff:10.0.0.0/95", "clinic.example",
    ])
  func refused(network: String) {
    #expect(Netmasks([network]) == nil)
    #expect(Netmasks(["192.0.2.0/24", network]) == nil)
  }

  @Test("A list holds one network to as many as the limit says; an empty one is refused")
  func count() {
    let most = QuietLimit.netmasksMax
    for (count, isTaken) in [
      (0, false), (1, true), (most - 1, true), (most, true), (most + 1, false),
    ] {
      let networks = (0..<count).map { "10.\($0 / 256).\($0 % 256).0/24" }
      #expect((Netmasks(networks) != nil) == isTaken, "\(count)")
    }
  }

  @Test("Whose the networks are can be read in no log and no dump")
  func redacted() throws {
    let masks = try #require(Netmasks(["192.0.2.0/24"]))
    var text = "\(masks)"
    dump(masks, to: &text)
    #expect(!text.contains("192") && !text.contains("bytes"))
  }
}
