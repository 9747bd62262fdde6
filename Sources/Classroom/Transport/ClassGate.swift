// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import WebPages

/// The checks that every request passes first: it is for this class and from one of its pages.
struct ClassGate: Sendable {
  /// The reason why a request is refused.
  enum Refusal: Hashable, Sendable {
    /// For another host name: DNS rebinding.
    case otherHost
    case otherSite
  }

  let addresses: ClassAddresses

  /// The reason to refuse the request; `nil` to serve it.
  func refusal(of request: Request) -> Refusal? {
    guard let host = request.head.authority, addresses.contains(authority: host) else {
      return .otherHost
    }
    guard request.method == .post else { return nil }
    // Browsers send the origin with every POST.
    let origin = FormOrigin(of: request)
    guard origin.isOwn({ $0 == "http://" + host }), origin.isSameSite(allowsTyped: false) else {
      return .otherSite
    }
    return nil
  }
}

/// The cookie of a pupil's browser. Cookies do not distinguish ports, so the name contains the port.
struct ClassCookies: Sendable {
  let port: Int

  private var pupilName: String { "class-\(port)" }
  private static let attributes = "Path=/; HttpOnly; SameSite="

  /// `SameSite=Lax`, because a pupil who follows a link from a message must keep the phone. The cookie is persistent,
  /// because phones end browsers that are in the background.
  func pupil(_ token: SessionToken) -> String {
    "\(pupilName)=\(token.text); Max-Age=\(ClassLimit.sessionSeconds); \(Self.attributes)Lax"
  }

  var noPupil: String { "\(pupilName)=; Max-Age=0; \(Self.attributes)Lax" }

  /// The session of a pupil's browser.
  func session(of request: Request) -> String? {
    CookieHeader.values(of: pupilName, in: request.headers[.cookie]).first
  }
}

/// The addresses at which browsers reach the class.
package struct ClassAddresses: Hashable, Sendable {
  /// The host names without a port: addresses of this machine in its networks, best first, then loopback.
  package let hosts: [String]
  package let port: Int

  package init(hosts: [String], port: Int) {
    self.hosts = hosts
    self.port = port
  }

  /// The address that pupils open.
  package var join: String { url(hosts.first ?? "127.0.0.1") }

  /// The addresses that pupils may open as well.
  package var others: [String] {
    hosts.dropFirst().filter { !Self.loopback.contains($0) }.map(url)
  }

  /// All addresses.
  package var all: [String] { hosts.map(url) }

  /// True if a request for this host is for the class.
  func contains(authority: String) -> Bool {
    hosts.contains { host in
      // Port 80 is not named in addresses.
      authority == "\(host):\(port)" || (port == 80 && authority == host)
    }
  }

  /// The addresses with `authority` first, unless it is a loopback address.
  func preferring(authority: String) -> ClassAddresses {
    let host = authority.split(separator: ":").first.map(String.init) ?? ""
    guard hosts.contains(host), !Self.loopback.contains(host) else { return self }
    return ClassAddresses(hosts: [host] + hosts.filter { $0 != host }, port: port)
  }

  private func url(_ host: String) -> String {
    port == 80 ? "http://\(host)/" : "http://\(host):\(port)/"
  }

  private static let loopback = ["127.0.0.1", "localhost"]

  /// The hosts of this machine: the IPv4 addresses of its networks and loopback.
  package static var hostsOfThisMachine: [String] {
    // Without the list of networks, pages are reachable on this machine only.
    let devices = (try? System.enumerateDevices()) ?? []
    let addresses = devices.compactMap { device -> (isVirtual: Bool, address: String)? in
      guard case .v4 = device.address, let address = device.address?.ipAddress,
        !address.hasPrefix("127."), !address.hasPrefix("169.254.")
      else { return nil }
      return (virtualPrefixes.contains(where: device.name.hasPrefix), address)
    }
    // Virtual interfaces come last: they belong to containers and virtual machines.
    let sorted = addresses.filter { !$0.isVirtual } + addresses.filter(\.isVirtual)
    return sorted.map(\.address) + loopback
  }

  private static let virtualPrefixes = ["docker", "br-", "veth", "virbr", "vmnet", "tun", "wg"]
}
