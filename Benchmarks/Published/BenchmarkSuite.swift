// SPDX-License-Identifier: Apache-2.0
/// The published set of benchmarks and the targets of the project. Documentation/Performance.md explains both.
enum BenchmarkSuite {
  private static let million = "match --keys 1000000 --sightings"

  static let benchmarks: [Benchmark] =
    [
      Benchmark(
        "file-20k-vaes512", "unzipped, VAES-512", "\(million) 20000 --from file --tier vaes512"),
      Benchmark(
        "file-20k-vaes256", "unzipped, VAES-256", "\(million) 20000 --from file --tier vaes256"),
      Benchmark(
        "file-20k-aesni", "unzipped, AES-NI", "\(million) 20000 --from file --tier aesni-shani"),
      Benchmark(
        "file-20k-portable", "unzipped, portable C",
        "match --keys 100000 --sightings 20000 --from file --tier portable", runs: 1),
      Benchmark(
        "memory-20k-vaes512", "in memory, VAES-512", "\(million) 20000 --from memory --tier vaes512"
      ),
      Benchmark(
        "memory-20k-aesni", "in memory, AES-NI", "\(million) 20000 --from memory --tier aesni-shani"
      ),
      Benchmark(
        "zip-20k-vaes512", "zipped, VAES-512", "\(million) 20000 --from zip --tier vaes512"),
      Benchmark(
        "zip-20k-aesni", "zipped, AES-NI", "\(million) 20000 --from zip --tier aesni-shani"),
      Benchmark(
        "file-1k-vaes512", "unzipped, 1,000 identifiers",
        "\(million) 1000 --from file --tier vaes512"),
      Benchmark(
        "file-200k-vaes512", "unzipped, 200,000 identifiers",
        "\(million) 200000 --from file --tier vaes512"),
      Benchmark(
        "file-20k-two-threads", "unzipped, two threads",
        "\(million) 20000 --from file --tier vaes512 --threads 2", by: .gainOverOneThread),
      Benchmark(
        "zip-20k-two-threads", "zipped, two threads",
        "\(million) 20000 --from zip --tier vaes512 --threads 2", by: .gainOverOneThread),
    ]
    + [10_000, 100_000, 10_000_000].map { keys in
      Benchmark(
        "file-20k-keys-\(keys)", "unzipped, \(keys) keys",
        "match --keys \(keys) --sightings 20000 --from file", runs: keys > 1_000_000 ? 1 : 3)
    }
    + [10_000, 10_000_000].map { keys in
      Benchmark(
        "zip-20k-keys-\(keys)", "zipped, \(keys) keys",
        "match --keys \(keys) --sightings 20000 --from zip", runs: keys > 1_000_000 ? 1 : 3)
    }
    + [
      Benchmark(
        "publish", "14 keys, 32 connections, SQLite",
        "publish --connections 32 --requests 20000 --keys 14", by: .requestsPerSecond),
      Benchmark(
        "publish-chaff", "every second upload is a decoy",
        "publish --connections 8 --requests 10000 --keys 14 --chaff", by: .realMedian),
      Benchmark(
        "overload", "uploads at twice the sustainable rate", "overload", isOwn: true,
        by: .overloadP99),
      Benchmark("export", "500,000 keys", "export --keys 500000", by: .seconds),
      Benchmark(
        "town", "400 phones in one process", "town --phones 400", isOwn: true, runs: 1,
        by: .secondsPerDay),
      Benchmark(
        "populations", "1,000 phones in a simulated population",
        "populations --phones 1000 --days 3", isOwn: true, runs: 1,
        by: .personDaysPerProcessorSecond),
      .webApp,
    ]

  /// The times of the reference processor plus 15 percent.
  private static let vaes512 = ReferenceSpeeds(
    benchmark: "file-20k-vaes512",
    speeds: [
      kernel("schedule with AVX-512", .schedule, nanosecondsMax: 86.3),
      kernel("blocks with VAES-512", .blocks, nanosecondsMax: 58.7),
    ])
  private static let aesni = ReferenceSpeeds(
    benchmark: "file-20k-aesni",
    speeds: [
      kernel("schedule with SHA-NI", .schedule, nanosecondsMax: 135.7),
      kernel("blocks with AES-NI", .blocks, nanosecondsMax: 262.2),
    ])
  /// An estimate, until it is measured on the reference processor: Performance.md derives it.
  private static let bareUploads = ReferenceSpeeds(
    benchmark: "publish",
    speeds: [
      .init(
        name: "uploads without a server", unit: "per second", figure: .bareUploadsPerSecond,
        bound: .atLeast(4_500), isOfProduct: false)
    ])
  static let referenceSpeeds = [vaes512, aesni, bareUploads]

  private static func kernel(
    _ name: String, _ figure: BenchmarkFigure, nanosecondsMax: Double
  ) -> ReferenceSpeeds.Speed {
    .init(
      name: name, unit: "ns per key", figure: figure, bound: .atMost(nanosecondsMax),
      isOfProduct: true)
  }

  static let targets: [BenchmarkTarget] = [
    BenchmarkTarget(
      "Unzipped file, VAES-512, ns per key", .figure(.cpu, of: "file-20k-vaes512"),
      .atMost(310), on: vaes512),
    BenchmarkTarget(
      "Unzipped file, VAES-512, ns per key (stretch)", .figure(.cpu, of: "file-20k-vaes512"),
      .atMost(260),
      on: vaes512),
    BenchmarkTarget(
      "Unzipped file, AES-NI, ns per key", .figure(.cpu, of: "file-20k-aesni"),
      .atMost(700), on: aesni),
    BenchmarkTarget(
      "Zip, VAES-512, ns per key", .figure(.cpu, of: "zip-20k-vaes512"), .atMost(460),
      on: vaes512),
    BenchmarkTarget(
      "1,000 identifiers, ns per key", .figure(.cpu, of: "file-1k-vaes512"), .atMost(175),
      on: vaes512),
    BenchmarkTarget(
      "200,000 identifiers over 20,000, ratio",
      .ratio(.cpu, "file-200k-vaes512", over: .cpu, "file-20k-vaes512"), .atMost(1.5)),
    BenchmarkTarget(
      "VAES-512 over the limit of the machine, ratio",
      .ratio(.cpu, "file-20k-vaes512", over: .limit, "file-20k-vaes512"), .atMost(1.5)),
    BenchmarkTarget(
      "AES-NI over the limit of the machine, ratio",
      .ratio(.cpu, "file-20k-aesni", over: .limit, "file-20k-aesni"), .atMost(1.5)),
    BenchmarkTarget(
      "One thread over two, elapsed time, unzipped",
      .figure(.gainOverOneThread, of: "file-20k-two-threads"), .atLeast(1.7)),
    BenchmarkTarget(
      "One thread over two, kernels alone, best round",
      .figure(.limitScaling, of: "file-20k-two-threads")),
    BenchmarkTarget(
      "One thread over two, kernels alone, median round",
      .figure(.medianLimitScaling, of: "file-20k-two-threads")),
    BenchmarkTarget(
      "One thread over two, elapsed time, zipped",
      .figure(.gainOverOneThread, of: "zip-20k-two-threads"), .atLeast(1.4)),
    BenchmarkTarget(
      "Memory above the baseline, unzipped, MiB",
      .difference(.peak, .baseline, of: "file-20k-vaes512"), .atMost(8)),
    BenchmarkTarget(
      "Memory above the baseline, zipped, MiB",
      .difference(.peak, .baseline, of: "zip-20k-vaes512"), .atMost(32)),
    BenchmarkTarget(
      "Memory above the baseline, ten million keys unzipped, MiB",
      .difference(.peak, .baseline, of: "file-20k-keys-10000000"), .atMost(8)),
    BenchmarkTarget(
      "Memory above the baseline, ten million keys zipped, MiB",
      .difference(.peak, .baseline, of: "zip-20k-keys-10000000"), .atMost(32)),
    BenchmarkTarget(
      "Time per key, ten million keys over one million, ratio",
      .ratio(.cpu, "file-20k-keys-10000000", over: .cpu, "file-20k-vaes512"), .atMost(1.25)),
    BenchmarkTarget(
      "Time per key, 100,000 keys over one million, ratio",
      .ratio(.cpu, "file-20k-keys-100000", over: .cpu, "file-20k-vaes512"), .atMost(1.25)),
    BenchmarkTarget(
      "Uploads per second", .figure(.requestsPerSecond, of: "publish"), .atLeast(2_850),
      on: bareUploads),
    BenchmarkTarget(
      "Uploads over uploads without a server, ratio",
      .ratio(.requestsPerSecond, "publish", over: .bareUploadsPerSecond, "publish"),
      .atLeast(0.55)),
    BenchmarkTarget(
      "Median latency of decoys over uploads, ratio",
      .ratio(.chaffMedian, "publish-chaff", over: .realMedian, "publish-chaff"),
      .near(1, percent: 5)),
    BenchmarkTarget(
      "Accepted uploads at twice the sustainable rate, p99, ms",
      .figure(.overloadP99, of: "overload"), .atMost(1_000)),
    BenchmarkTarget(
      "Uploads at half the sustainable rate, p99 over median, ratio",
      .ratio(.calmP99, "overload", over: .calmMedian, "overload"), .atMost(5)),
    BenchmarkTarget("Export of 500,000 keys, s", .figure(.seconds, of: "export"), .atMost(1)),
    BenchmarkTarget(
      "Memory of an export without the program, MiB",
      .difference(.peak, .program, of: "export"), .atMost(40)),
    BenchmarkTarget("Memory of a phone among 400, KiB", .figure(.memoryPerPhone, of: "town")),
    BenchmarkTarget("A simulated day of 400 phones, s", .figure(.secondsPerDay, of: "town")),
    BenchmarkTarget(
      "Days of a phone in a population per processor second",
      .figure(.personDaysPerProcessorSecond, of: "populations"), .atLeast(200)),
    BenchmarkTarget(
      "Memory of a phone in a population, KiB", .figure(.memoryPerPhone, of: "populations"),
      .atMost(64)),
    BenchmarkTarget(
      "Web app, first paint, seconds", .figure(.firstPaint, of: "web-app"), .atMost(0.5)),
    BenchmarkTarget(
      "Web app, all files and languages as transferred, KiB", .figure(.filesKiB, of: "web-app"),
      .atMost(150)),
    BenchmarkTarget(
      "Web app, layout shift", .figure(.layoutShift, of: "web-app"), .atMost(0)),
  ]
}
