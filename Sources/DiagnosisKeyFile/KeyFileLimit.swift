// SPDX-License-Identifier: Apache-2.0
/// Limits of what the reader accepts; everything beyond them is rejected.
///
/// Documentation/KeyFiles.md, "Limits", has the reason for each figure.
public enum KeyFileLimit {
  /// The downloaded file, in bytes.
  public static let fileByteCountMax = 32 << 20
  /// `export.bin` after decompression, in bytes.
  public static let exportByteCountMax = 48 << 20
  /// `export.sig` after decompression, in bytes.
  public static let signatureFileByteCountMax = 16 << 10
  /// The ratio of content to zip. Keys are random and do not compress, so a valid file stays under 3.
  public static let expansionMax = 20
  /// The entries `export.bin` and `export.sig`.
  public static let entryCountMax = 2
  /// Entries of a zip that tools read, including those that they skip.
  static let publishedEntryCountMax = 1_000
  /// The zip's central directory, in bytes: two short names and their dates.
  public static let zipDirectoryByteCountMax = 4 << 10
  /// Keys and revised keys of one file. Servers split at 500,000; the limit leaves half as many again.
  public static let keyCountMax = 750_000
  /// One key with all its fields, in bytes; valid keys have 39.
  public static let keyMessageByteCountMax = 256
  /// Everything except keys: period, region, batch and signature infos, in bytes.
  public static let headerByteCountMax = 16 << 10
  /// Signatures, and signature infos.
  public static let signatureCountMax = 10
  /// The name of a region, in bytes of UTF-8.
  public static let regionByteCountMax = 64
  /// The id or version of a verification key, in bytes of UTF-8.
  public static let verificationKeyNameByteCountMax = 64
  /// Keys passed on in one batch.
  public static let batchSizes = 1...65_536
  /// Bytes of a file in memory at once.
  public static let chunkByteCount = 64 << 10
}
