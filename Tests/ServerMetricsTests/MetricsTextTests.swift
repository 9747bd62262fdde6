// SPDX-License-Identifier: Apache-2.0
import ServerMetrics
import Testing

@Suite("Metrics in the text format of Prometheus")
struct MetricsTextTests {
  @Test("Families of one name become one, with the samples of all servers")
  func merged() {
    func family(_ value: Double, _ server: String) -> MetricFamily {
      MetricFamily("b_total", .counter, help: "Events.", [MetricSample(value)])
        .labeled("server", server)
    }
    let other = MetricFamily("a", .gauge, help: "A share.", [MetricSample(0.25)])
    #expect(
      MetricsText([family(1, "keys"), other, family(2, "console")]).text == """
        # HELP a A share.
        # TYPE a gauge
        a 0.25
        # HELP b_total Events.
        # TYPE b_total counter
        b_total{server="keys"} 1
        b_total{server="console"} 2

        """)
  }

  @Test(
    "Label values are escaped, whole numbers have no fraction, and a family without samples is left out"
  )
  func values() {
    let label = MetricLabel("name", "a\"b\\c\nd\r\ne\"\u{301}")
    let families = [
      MetricFamily(
        "a", .gauge, help: "One\nline with \\.",
        [MetricSample(1_700_000_000, [label]), MetricSample(.infinity)]),
      MetricFamily("b", .gauge, help: "Nothing.", []),
    ]
    #expect(
      MetricsText(families).text == #"""
        # HELP a One\nline with \\.
        # TYPE a gauge
        a{name="a\"b\\c\nd\#u{D}\ne\"\#u{301}"} 1700000000
        a +Inf

        """#)
  }

  @Test("The series of a histogram have their suffixes")
  func histogram() {
    let samples = [
      MetricSample(3, [MetricLabel("le", "+Inf")], suffix: "_bucket"),
      MetricSample(1.5, suffix: "_sum"), MetricSample(3, suffix: "_count"),
    ]
    let text = MetricsText([MetricFamily("h", .histogram, help: "Times.", samples)]).text
    #expect(text.hasSuffix("h_bucket{le=\"+Inf\"} 3\nh_sum 1.5\nh_count 3\n"))
  }
}
