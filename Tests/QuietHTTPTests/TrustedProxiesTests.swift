import Hummingbird
import NIOCore
import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 4.4.
@Suite struct TrustedProxiesTests {
  private func client(
    _ peer: String, _ forwarded: [String], trusting networks: [String]
  ) throws -> NumericAddress? {
    var headers = HTTPFields()
    headers[values: try #require(.init("X-Forwarded-For"))] = forwarded
    let proxies = try #require(TrustedProxies(networks))
    return proxies.client(of: NumericAddress(peer), headers: headers)
  }

  @Test(
    "A socket's peer is the address that its text names, IPv4 in an IPv6 socket included",
    arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1", "::1", "fe80::1", "::ffff:192.0.2.1"])
  func peer(text: String) throws {
    let socket = try SocketAddress(ipAddress: text, port: 4711)
    #expect(NumericAddress(socket) == NumericAddress(text))
    #expect(NumericAddress(try SocketAddress(unixDomainSocketPath: "/tmp/s")) == nil)
    #expect(NumericAddress(nil as SocketAddress?) == nil)
  }

  @Test("Without trusted proxies, and from anybody else, what the header says is not read")
  func untrusted() throws {
    for networks in [[], ["10.0.0.0/8"]] {
      let found = try client("192.0.2.1", ["203.0.113.9"], trusting: networks)
      #expect(found == NumericAddress("192.0.2.1"))
    }
  }

  @Test("A trusted proxy names the client; what the client wrote before it does not count")
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

  @Test("A network holds the addresses of its prefix, and no others")
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
    "What is no network is refused, and so is everybody, at once or in parts",
    arguments: [
      "", "10.0.0.0/33", "10.0.0.0/-1", "a/8", "::/129", "1.2.3.4/8/8", "0.0.0.0/0", "::/0",
      "10.0.0.0/0", "::ffff:0:0/0", "10.0.0.0/00", "0.0.0.0/1", "128.0.0.0/1", "10.0.0.0/7",
      "8000::/1", "fc00::/7", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/103", "::ffff:10.0.0.0/129",
    ])
  func refused(network: String) {
    #expect(TrustedProxies([network]) == nil)
  }
}
