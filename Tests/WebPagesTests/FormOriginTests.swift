// SPDX-License-Identifier: Apache-2.0
import Testing
import WebPages

@Suite("The origin of forms")
struct FormOriginTests {
  @Test("A form without the headers of a browser is no other site's")
  func none() {
    let origin = FormOrigin(of: MadeRequest.with())
    #expect(origin.isSameSite(allowsTyped: false) && origin.isOwn { _ in false })
  }

  @Test(
    "Only requests of the same origin pass, and typed ones where they are allowed",
    arguments: [
      ("same-origin", true, true), ("none", false, true), ("same-site", false, false),
      ("cross-site", false, false), ("", false, false), ("SAME-ORIGIN", false, false),
    ])
  func sites(site: String, passes: Bool, passesIfTyped: Bool) {
    let origin = FormOrigin(of: MadeRequest.with(["Sec-Fetch-Site": site]))
    #expect(origin.isSameSite(allowsTyped: false) == passes)
    #expect(origin.isSameSite(allowsTyped: true) == passesIfTyped)
  }

  @Test("A header that occurs twice counts with its strictest value, in both orders")
  func repeated() {
    let sites: [KeyValuePairs] = [
      ["Sec-Fetch-Site": "same-origin", "sec-fetch-site": "cross-site"],
      ["Sec-Fetch-Site": "cross-site", "sec-fetch-site": "same-origin"],
    ]
    for headers in sites {
      #expect(!FormOrigin(of: MadeRequest.with(headers)).isSameSite(allowsTyped: true))
    }
    let own = "http://127.0.0.1:80"
    let origins: [KeyValuePairs] = [
      ["Origin": own, "origin": "http://evil.example"],
      ["Origin": "http://evil.example", "origin": own],
    ]
    for headers in origins {
      #expect(!FormOrigin(of: MadeRequest.with(headers)).isOwn { $0 == own })
    }
    #expect(FormOrigin(of: MadeRequest.with(["Origin": own])).isOwn { $0 == own })
  }

  @Test(
    "The host of an origin has its port only if that is named",
    arguments: [
      ("https://report.example", "report.example"), ("http://127.0.0.1:8080", "127.0.0.1:8080"),
      ("null", nil), ("", nil),
    ] as [(String, String?)])
  func authority(origin: String, authority: String?) {
    #expect(FormOrigin.authority(of: origin) == authority)
  }
}
