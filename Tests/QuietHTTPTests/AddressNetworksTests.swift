// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import Testing

@testable import QuietHTTP

@Suite("Trusted proxies")
struct TrustedProxiesTests {
  private func client(
    _ peer: String, _ forwarded: [String], trusting networks: [String]
  ) throws -> NumericAddress? {
    var headers = HTTPFields()
    headers[values: try #require(.init("X-Forwarded-For"))] = forwarded
    let proxies = try #require(TrustedProxies(networks))
    return proxies.client(of: NumericAddress(peer), headers: headers)
  }

  @Test(
    "The address of a socket equals the parsed address, also for IPv4-mapped addresses",
    arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1", "::1", "fe80::1", "::ffff:192.0.2.1"])
  func peer(text: String) throws {
    let socket = try SocketAddress(ipAddress: text, port: 4711)
    #expect(NumericAddress(socket) == NumericAddress(text))
    #expect(NumericAddress(try SocketAddress(unixDomainSocketPath: "/tmp/s")) == nil)
    #expect(NumericAddress(nil as SocketAddress?) == nil)
  }

  @Test("X-Forwarded-For of a peer that is not trusted is ignored")
  func untrusted() throws {
    for networks in [[], ["10.0.0.0/8"]] {
      let found = try client("192.0.2.1", ["203.0.113.9"], trusting: networks)
      #expect(found == NumericAddress("192.0.2.1"))
    }
  }

  @Test("The client is the last address that a trusted proxy wrote")
  func trusted() throws {
    for (header, expected) in [
      (["203.0.113.9"], "203.0.113.9"), (["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
      (["1.1.1.1", "203.0.113.9"], "203.0.113.9"), (["203.0.113.9, 10.0.0.2"], "203.0.113.9"),
      (["1.1.1.1, 203.0.113.9:4711 , 10.0.0.2"], "203.0.113.9"),
      (["[2001:db8::1]:443"], "2001:db8::1"), (["2001:db8::1"], "2001:db8::1"),
      ([], "10.0.0.1"), (["nonsense"], "10.0.0.1"), (["203.0.113.9, nonsense"], "10.0.0.1"),
      (["10.0.0.3"], "10.0.0.3"),
    ] {
      let found = try client("10.0.0.1", header, trusting: ["10.0.0.0/8"])
      #expect(found == NumericAddress(expected), "\(header)")
    }
  }

  @Test("A network contains exactly the addresses with its prefix")
  func networks() throws {
    for (network, address, isInside) in [
      ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.128", true),
      ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
      ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
      ("10.0.0.0/9", "10.127.255.255", true), ("10.0.0.0/9", "10.128.0.0", false),
      ("10.0.0.0/9", "a00::1", false), ("fd80::/9", "fdff::1", true),
      ("fd80::/9", "fd7f::1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
      ("::ffff:127.0.0.1", "127.0.0.1", true), ("::ffff:127.0.0.1", "127.0.0.2", false),
      ("::ffff:127.0.0.1/128", "127.0.0.1", true), ("::ffff:10.0.0.0/104", "10.9.9.9", true),
      ("::ffff:10.0.0.0/104", "11.0.0.0", false), ("::ffff:10.0.0.0/104", "::ffff:10.9.9.9", true),
    ] {
      let found = try client(address, ["203.0.113.9"], trusting: [network])
      #expect((found == NumericAddress("203.0.113.9")) == isInside, "\(network) \(address)")
    }
  }

  @Test(
    "An invalid network, or one that is too wide, is rejected",
    arguments: [
      "", "10.0.0.0/33", "10.0.0.0/-1", "a/8", "::/129", "1.2.3.4/8/8", "0.0.0.0/0", "::/0",
      "10.0.0.0/0", "::ffff:0:0/0", "10.0.0.0/00", "0.0.0.0/1", "128.0.0.0/1", "10.0.0.0/7",
      "8000::/1", "fc00::/7", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/103", "::ffff:10.0.0.0/129",
    ])
  func refused(network: String) {
    #expect(TrustedProxies([network]) == nil)
  }
}

@Suite("Netmasks")
struct NetmasksTests {
  @Test(
    "A network contains its first and last address, in IPv4 and in IPv6",
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

  @Test("A client must be in one of the networks, and without an address it is in none")
  func several() throws {
    let masks = try #require(Netmasks(["192.0.2.0/24", "2001:db8::/32"]))
    for (address, isInside) in [
      ("192.0.2.1", true), ("2001:db8::1", true), ("198.51.100.1", false), ("2001:db9::1", false),
    ] {
      #expect(masks.contain(NumericAddress(address)) == isInside, "\(address)")
    }
    #expect(!masks.contain(nil))
    #expect(Netmasks.anyAddress.contain(nil))
    #expect(Netmasks.anyAddress.contain(NumericAddress("192.0.2.1")))
  }

  @Test(
    "An invalid network is rejected, alone and among others",
    arguments: [
      "", "*", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "a/8", "::/129",
      "1.2.3.4/8/8", "10.0.0.0/",
      "::ffff:10.0.0.0/95", "clinic.example",
    ])
  func refused(network: String) {
    #expect(Netmasks([network]) == nil)
    #expect(Netmasks(["192.0.2.0/24", network]) == nil)
  }

  @Test("A list must have at least one network and at most the limit")
  func count() {
    let most = QuietLimit.netmasksMax
    for (count, isTaken) in [
      (0, false), (1, true), (most - 1, true), (most, true), (most + 1, false),
    ] {
      let networks = (0..<count).map { "10.\($0 / 256).\($0 % 256).0/24" }
      #expect((Netmasks(networks) != nil) == isTaken, "\(count)")
    }
  }

  @Test("Networks do not appear in printed or dumped values")
  func redacted() throws {
    let masks = try #require(Netmasks(["192.0.2.0/24"]))
    var text = "\(masks)"
    dump(masks, to: &text)
    #expect(!text.contains("192") && !text.contains("bytes"))
  }
}
