// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// Limits of connections, requests and responses, the same for all servers.
public enum QuietLimit {
  /// Open connections of a server, with and without TLS together. For a further one the connection that has been idle
  /// longest is closed; if none is idle, it waits in the system's queue.
  public static let connectionsMax = 1_024
  /// Open connections of the endpoint of metrics, besides those of the servers.
  public static let metricsConnectionsMax = 16
  /// Connections that wait in the system's queue until they are accepted. The system drops further ones, whose clients
  /// try again only after one, three and seven seconds.
  static let waitingConnectionsMax = 4_096
  /// Open connections of one address (all bits of IPv4, 64 bits of IPv6). Further ones are closed at once.
  public static let connectionsPerAddressMax = 256
  /// Seconds in which a connection must send its next complete request head.
  public static let idleSeconds = 30
  /// Seconds after which an idle connection to another server is closed.
  static let clientIdleSeconds = 5
  /// Seconds in which a client must send the body of a request, unless the route has its own limit.
  public static let bodySecondsMax = 20
  /// Bytes of a body that a client must send in a second, measured over `bodyCheckSeconds`: four kilobits, less than
  /// the slowest mobile network transfers.
  public static let bodyBytesPerSecondMin = 512
  /// The seconds over which the rate of a body is measured.
  public static let bodyCheckSeconds = 4
  /// Unfinished bodies of one network (all bits of IPv4, 48 bits of IPv6). Of further ones the slowest is closed.
  public static let unfinishedBodiesPerNetworkMax = 48
  /// Seconds in which a client must read `responseBytesMin` of its pending responses, or all if that is less.
  public static let responseSecondsMax = 60
  /// Bytes of pending responses that a client must read in `responseSecondsMax`: about nine kilobits a
  /// second, less than the slowest mobile network transfers.
  public static let responseBytesMin = 64 << 10
  /// Bytes of responses of all connections that the system has not taken yet. Above it, the connection that has
  /// been unread longest is closed.
  public static let unreadBytesMax = 64 << 20
  /// The send buffer of a connection, in bytes, which the system doubles.
  public static let sendBufferBytes = 256 << 10
  /// Bytes of a file that are read at once.
  public static let fileChunkBytes = 64 << 10
  /// Requests of a connection that wait for the response to the one before them. Further ones are discarded.
  public static let pipelinedRequestsMax = 16
  /// Bytes of the bodies of these requests.
  public static let pipelinedBytesMax = 64 << 10
  /// Requests in progress, from their last byte to the beginning of their response. Further ones are rejected.
  public static let requestsInWorkMax = 768
  /// The longest estimated queueing delay of a new request, in seconds; with more, the request is rejected.
  static let queueSecondsMax = 0.5
  /// Requests that are processed at once; others wait until one of them is finished.
  static let requestsBegunMax = 128
  /// The longest wait of a request on a busy server, in seconds; after it, the request is rejected.
  static let beginSecondsMax = 0.6
  /// The number of requests in progress at which the server counts as busy and the delay is estimated.
  static let busyRequestsMin = 32
  /// Seconds for which the result of a check of readiness is returned again.
  static let readinessSeconds = 1
  /// Seconds after which a check of readiness without a result counts as failed.
  static let readinessCheckSeconds = 3
  /// Seconds over which the rate of finished requests is measured.
  static let rateSeconds = 1.0
  /// Bytes of all the headers of a request.
  public static let headerBytesMax = 16 << 10
  /// Headers of a request.
  public static let headersMax = 100
  /// Seconds in which a client can read an error response before the connection with its unread body closes.
  public static let lingerSeconds = 2
  /// Seconds for requests in progress after a shutdown signal.
  public static let shutdownSeconds = 10
  /// Seconds for the rest of a request that is not complete at a shutdown signal.
  public static let unfinishedRequestSeconds = 2
  /// The divisor of the limits of addresses and networks after a quarter of the total of a `FailureBudget`.
  public static let slowedFailuresDivisor = 10
  /// The divisor of the limits of IPv6 networks of 40 and 32 bits after half of that total.
  static let guardedFailuresDivisor = 100
  /// The failures of an IPv6 network of 40 bits, as a multiple of those of 48 bits.
  static let networksPerRegion = 4
  /// The failures of an IPv6 network of 32 bits, as a multiple of those of 48 bits.
  static let networksPerProvider = 16
  /// The share of the total of a `FailureBudget` for failures of clients that have used up their limits.
  static let excessFailuresShare = 0.1
  /// Attempts of clients that have used up their failures that are verified at once.
  public static let excessAttemptsMax = 4
  /// Attempts of such clients that wait to be verified, unless a budget has its own limit: half of the
  /// requests that are processed at once, so that the other half is left for other requests.
  public static let waitingExcessAttemptsMax = requestsBegunMax / 2
  /// The longest wait of such an attempt, in seconds; after it, the attempt is refused.
  static let excessWaitSecondsMax = 1.0
  /// The weight up to which a failure may use up more than three quarters of the total.
  static let lightFailureWeight = 0.1
  /// Keys in the memory of an `AttemptBudget`, and of each level of a `FailureBudget`.
  public static let budgetKeysMax = 100_000
  /// The shortest prefix of a trusted proxy network: /8, as in 10.0.0.0/8 and fd00::/8, the widest private
  /// networks.
  public static let proxyPrefixBitsMin = 8
  /// Entries of `Netmasks`, which are searched linearly for each request.
  public static let netmasksMax = 1_000
  /// The grid of response times, in milliseconds: coarser than the differences between lookups.
  public static let responseGridMilliseconds = 5
  /// The grid of uploads, in milliseconds. It is finer, because a grid limits how many a connection can send.
  public static let uploadGridMilliseconds = 1
  /// Times of successes that a route keeps for its decoys and refusals.
  public static let responseTimesMax = 256
  /// The maximum delay of a decoy or refusal, in seconds.
  public static let decoySecondsMax = 5
  /// Reads of the system's tables of sockets in search of a connection.
  public static let socketTableReads = 3
  /// The `Retry-After` of 503, in seconds.
  public static let retryAfterSeconds = 30
}
