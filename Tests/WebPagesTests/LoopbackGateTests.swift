// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Testing
import WebPages

@Suite("The gate of pages on loopback")
struct LoopbackGateTests {
  private static let paths = LoopbackGate.Paths.below(
    "/data/", exceptBelow: "/data/open/", scripted: ["/data/events"])

  private func facts(
    _ headers: KeyValuePairs<String, String> = [:], method: HTTPRequest.Method = .get,
    path: String = "/", host: String? = "127.0.0.1:8080"
  ) -> LoopbackGate.Facts {
    LoopbackGate.Facts(
      MadeRequest.with(headers, method: method, path: path, host: host), paths: Self.paths)
  }

  @Test("The three names of this machine pass with their port, and on port 80 without")
  func names() {
    for name in ["127.0.0.1", "localhost", "[::1]"] {
      #expect(LoopbackGate(port: 8080).refusal(of: facts(host: "\(name):8080")) == nil)
      #expect(LoopbackGate(port: 8080).refusal(of: facts(host: name)) == .otherHost)
      #expect(LoopbackGate(port: 80).refusal(of: facts(host: name)) == nil)
    }
  }

  @Test(
    "Other hosts are refused",
    arguments: [
      nil, "", "127.0.0.1:8081", "evil.example:8080", "localhost.evil.example:8080",
      "127.0.0.2:8080", "127.0.0.1:8080.evil.example",
    ] as [String?])
  func otherHosts(host: String?) {
    let facts = facts(host: host)
    #expect(LoopbackGate(port: 8080).refusal(of: facts) == .otherHost)
    #expect(!LoopbackGate(port: 8080).isForThisHost(facts))
  }

  @Test("Frames and other origins are refused, and a repeated header is")
  func sites() {
    let gate = LoopbackGate(port: 8080)
    #expect(gate.refusal(of: facts(["Sec-Fetch-Dest": "iframe"])) == .frame)
    #expect(gate.refusal(of: facts(["Origin": "http://127.0.0.1:8080"])) == nil)
    let others: [KeyValuePairs] = [
      ["Origin": "http://localhost:8080"], ["Origin": "null"], ["Sec-Fetch-Site": "same-site"],
      ["Sec-Fetch-Site": "cross-site"],
      ["Sec-Fetch-Site": "same-origin", "sec-fetch-site": "same-origin"],
    ]
    for headers in others { #expect(gate.refusal(of: facts(headers)) == .otherSite) }
  }

  @Test("A typed address shows a page, and neither sends a form nor reads what is for scripts")
  func typed() {
    let gate = LoopbackGate(port: 8080)
    let typed: KeyValuePairs = ["Sec-Fetch-Site": "none"]
    #expect(gate.refusal(of: facts(typed, path: "/page")) == nil)
    #expect(gate.refusal(of: facts(typed, path: "/data/events")) == .otherSite)
    #expect(gate.refusal(of: facts(typed, method: .post, path: "/page")) == .otherSite)
  }

  @Test("Without Sec-Fetch-Dest, paths of data are no documents, except those that open a page")
  func documents() {
    #expect(facts(path: "/history").isDocument && facts(path: "/data/open/home").isDocument)
    #expect(!facts(path: "/data/script.js").isDocument && !facts(method: .post).isDocument)
    #expect(facts(["Sec-Fetch-Dest": "document"], path: "/data/x").isDocument)
    #expect(!facts(["Sec-Fetch-Dest": "script"]).isDocument)
    let none = LoopbackGate.Facts(MadeRequest.with(path: "/data/script.js"))
    #expect(none.isDocument)
  }
}
