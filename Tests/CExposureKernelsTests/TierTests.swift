// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import Foundation
import Testing

/// The available tiers, compared with the operating system's list of features.
@Suite("The available tiers match the processor, each with its own kernels")
struct TierTests {
  private static let all = [
    EK_TIER_PORTABLE, EK_TIER_AESNI_SHANI, EK_TIER_VAES256, EK_TIER_VAES512, EK_TIER_ARM64,
  ]

  #if os(Linux)
    /// The features each tier needs. The system lists only features whose registers it saves.
    private static let features: [UInt32: Set<String>] = {
      #if arch(x86_64)
        let wide: Set<String> = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "vaes"]
        let shani: Set<String> = ["aes", "sse4_1", "ssse3", "sha_ni"]
        return [
          EK_TIER_AESNI_SHANI.rawValue: shani,
          EK_TIER_VAES256.rawValue: shani.union(["avx2", "vaes"]),
          EK_TIER_VAES512.rawValue: wide.union(["aes", "avx2"]),
        ]
      #else
        return [EK_TIER_ARM64.rawValue: ["aes", "sha2"]]
      #endif
    }()

    @Test("The system's list of the processor's features gives the same tiers")
    func cpuinfo() throws {
      let text = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
      let line = try #require(
        text.split(separator: "\n").first {
          $0.hasPrefix("flags") || $0.hasPrefix("Features")
        })
      let has = Set(line.split(whereSeparator: { " \t:".contains($0) }).map(String.init))
      for tier in Self.all where tier != EK_TIER_PORTABLE {
        let needed = Self.features[tier.rawValue]
        let isExpected = needed.map(has.isSuperset) ?? false
        #expect(ek_tier_is_available(tier) == isExpected, "tier \(tier.rawValue)")
      }
      let bySpeed = [EK_TIER_VAES512, EK_TIER_VAES256, EK_TIER_AESNI_SHANI, EK_TIER_ARM64]
      let fastest = bySpeed.first { Self.features[$0.rawValue].map(has.isSuperset) ?? false }
      #expect(ek_fastest_tier() == fastest ?? EK_TIER_PORTABLE)
    }
  #endif

  @Test("Each available tier uses its own kernels, and an unavailable one the portable kernels")
  func atWork() {
    for tier in Self.all {
      let expected = ek_tier_is_available(tier) ? tier : EK_TIER_PORTABLE
      #expect(ek_tier_at_work(tier) == expected, "tier \(tier.rawValue)")
    }
    #expect(ek_tier_at_work(ek_tier(rawValue: 99)) == EK_TIER_PORTABLE)
  }
}
