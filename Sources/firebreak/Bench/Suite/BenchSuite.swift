/// The published set: what is measured, and what it has to reach. Documentation/Performance.md 7.
enum BenchSuite {
  private static let million = "match --keys 1000000 --sightings"

  static let cases: [BenchCase] =
    [
      BenchCase(
        "file-20k-vaes512", "unzipped, VAES-512", "\(million) 20000 --from file --tier vaes512"),
      BenchCase(
        "file-20k-vaes256", "unzipped, VAES-256", "\(million) 20000 --from file --tier vaes256"),
      BenchCase(
        "file-20k-aesni", "unzipped, AES-NI", "\(million) 20000 --from file --tier aesni-shani"),
      BenchCase(
        "file-20k-portable", "unzipped, portable C",
        "match --keys 100000 --sightings 20000 --from file --tier portable", runs: 1),
      BenchCase(
        "memory-20k-vaes512", "in memory, VAES-512", "\(million) 20000 --from memory --tier vaes512"
      ),
      BenchCase(
        "memory-20k-aesni", "in memory, AES-NI", "\(million) 20000 --from memory --tier aesni-shani"
      ),
      BenchCase(
        "zip-20k-vaes512", "zipped, VAES-512", "\(million) 20000 --from zip --tier vaes512"),
      BenchCase(
        "zip-20k-aesni", "zipped, AES-NI", "\(million) 20000 --from zip --tier aesni-shani"),
      BenchCase(
        "file-1k-vaes512", "unzipped, 1,000 identifiers",
        "\(million) 1000 --from file --tier vaes512"),
      BenchCase(
        "file-200k-vaes512", "unzipped, 200,000 identifiers",
        "\(million) 200000 --from file --tier vaes512"),
      BenchCase(
        "file-20k-two-threads", "unzipped, two threads",
        "\(million) 20000 --from file --tier vaes512 --threads 2", by: .gainOverOneThread),
      BenchCase(
        "zip-20k-two-threads", "zipped, two threads",
        "\(million) 20000 --from zip --tier vaes512 --threads 2", by: .gainOverOneThread),
    ]
    + [10_000, 100_000, 10_000_000].map { keys in
      BenchCase(
        "file-20k-keys-\(keys)", "unzipped, \(keys) keys",
        "match --keys \(keys) --sightings 20000 --from file", runs: keys > 1_000_000 ? 1 : 3)
    }
    + [10_000, 10_000_000].map { keys in
      BenchCase(
        "zip-20k-keys-\(keys)", "zipped, \(keys) keys",
        "match --keys \(keys) --sightings 20000 --from zip", runs: keys > 1_000_000 ? 1 : 3)
    }
    + [
      BenchCase(
        "publish", "14 keys, 32 connections, SQLite",
        "publish --connections 32 --requests 20000 --keys 14", by: .requestsPerSecond),
      BenchCase(
        "publish-chaff", "every second upload a decoy",
        "publish --connections 8 --requests 10000 --keys 14 --chaff", by: .realMedian),
      BenchCase("export", "500,000 keys", "export --keys 500000", by: .seconds),
    ]

  /// The reference's figures, and 15 in 100 more: Documentation/Performance.md 7.4.
  private static let vaes512 = BenchYardstick(
    bench: "file-20k-vaes512",
    stages: [
      .init(name: "schedule with AVX-512", figure: .schedule, mostNanoseconds: 86.3),
      .init(name: "blocks with VAES-512", figure: .blocks, mostNanoseconds: 58.7),
    ])
  private static let aesni = BenchYardstick(
    bench: "file-20k-aesni",
    stages: [
      .init(name: "schedule with SHA-NI", figure: .schedule, mostNanoseconds: 135.7),
      .init(name: "blocks with AES-NI", figure: .blocks, mostNanoseconds: 262.2),
    ])
  static let yardsticks = [vaes512, aesni]

  static let targets: [BenchTarget] = [
    BenchTarget(
      "A key from an unzipped file with VAES-512, ns", .figure(.cpu, of: "file-20k-vaes512"),
      .atMost(310), on: vaes512),
    BenchTarget(
      "the same, stretched", .figure(.cpu, of: "file-20k-vaes512"), .atMost(260),
      on: vaes512),
    BenchTarget(
      "A key from an unzipped file with AES-NI, ns", .figure(.cpu, of: "file-20k-aesni"),
      .atMost(700), on: aesni),
    BenchTarget(
      "A key from a zip with VAES-512, ns", .figure(.cpu, of: "zip-20k-vaes512"), .atMost(460),
      on: vaes512),
    BenchTarget(
      "A key against 1,000 identifiers, ns", .figure(.cpu, of: "file-1k-vaes512"), .atMost(175),
      on: vaes512),
    BenchTarget(
      "200,000 identifiers over 20,000",
      .ratio(.cpu, "file-200k-vaes512", over: .cpu, "file-20k-vaes512"), .atMost(1.5)),
    BenchTarget(
      "VAES-512 over the machine's limit",
      .ratio(.cpu, "file-20k-vaes512", over: .limit, "file-20k-vaes512"), .atMost(1.5)),
    BenchTarget(
      "AES-NI over the machine's limit",
      .ratio(.cpu, "file-20k-aesni", over: .limit, "file-20k-aesni"), .atMost(1.5)),
    BenchTarget(
      "One thread over two on the clock, unzipped",
      .figure(.gainOverOneThread, of: "file-20k-two-threads"), .atLeast(1.7)),
    BenchTarget(
      "the same of the bare kernels, at their best",
      .figure(.limitScaling, of: "file-20k-two-threads")),
    BenchTarget(
      "the same of the bare kernels, in the middle of their rounds",
      .figure(.medianLimitScaling, of: "file-20k-two-threads")),
    BenchTarget(
      "One thread over two on the clock, zipped",
      .figure(.gainOverOneThread, of: "zip-20k-two-threads"), .atLeast(1.4)),
    BenchTarget(
      "Memory above the baseline, unzipped, MiB",
      .difference(.peak, .baseline, of: "file-20k-vaes512"), .atMost(8)),
    BenchTarget(
      "Memory above the baseline, zipped, MiB",
      .difference(.peak, .baseline, of: "zip-20k-vaes512"), .atMost(8)),
    BenchTarget(
      "the same, ten million keys unzipped",
      .difference(.peak, .baseline, of: "file-20k-keys-10000000"), .atMost(8)),
    BenchTarget(
      "the same, ten million keys zipped",
      .difference(.peak, .baseline, of: "zip-20k-keys-10000000"), .atMost(8)),
    BenchTarget(
      "A key of ten million over a key of a million",
      .ratio(.cpu, "file-20k-keys-10000000", over: .cpu, "file-20k-vaes512"), .atMost(1.25)),
    BenchTarget(
      "A key of a hundred thousand over a key of a million",
      .ratio(.cpu, "file-20k-keys-100000", over: .cpu, "file-20k-vaes512"), .atMost(1.25)),
    BenchTarget(
      "Uploads a second", .figure(.requestsPerSecond, of: "publish"), .atLeast(2_850)),
    BenchTarget(
      "Median latency of decoys over uploads",
      .ratio(.chaffMedian, "publish-chaff", over: .realMedian, "publish-chaff"),
      .near(1, percent: 5)),
    BenchTarget("Export of 500,000 keys, s", .figure(.seconds, of: "export"), .atMost(1)),
    BenchTarget("Memory of an export, MiB", .figure(.peak, of: "export"), .atMost(64)),
  ]
}
