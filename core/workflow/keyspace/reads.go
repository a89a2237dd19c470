package keyspace

import "strings"

// Reads reports whether a command of a cluster reads keys and writes none, so that a replica answers it.
func Reads(words []string) bool {
	switch strings.ToUpper(words[0]) {
	case "BITCOUNT", "BITFIELD_RO", "BITPOS", "DUMP", "EVALSHA_RO", "EVAL_RO", "EXISTS", "EXPIRETIME", "FCALL_RO", "GEODIST", "GEOHASH", "GEOPOS",
		"GEORADIUSBYMEMBER_RO", "GEORADIUS_RO", "GEOSEARCH", "GET", "GETBIT", "GETRANGE", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET",
		"HRANDFIELD", "HSCAN", "HSTRLEN", "HVALS", "LCS", "LINDEX", "LLEN", "LPOS", "LRANGE", "MGET", "PEXPIRETIME", "PFCOUNT", "PTTL", "SCARD",
		"SDIFF", "SINTER", "SINTERCARD", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SORT_RO", "SRANDMEMBER", "SSCAN", "STRLEN", "SUBSTR", "SUNION",
		"TOUCH", "TTL", "TYPE", "XLEN", "XPENDING", "XRANGE", "XREAD", "XREVRANGE", "ZCARD", "ZCOUNT", "ZDIFF", "ZINTER", "ZINTERCARD", "ZLEXCOUNT",
		"ZMSCORE", "ZRANDMEMBER", "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK", "ZREVRANGE", "ZREVRANGEBYLEX", "ZREVRANGEBYSCORE", "ZREVRANK",
		"ZSCAN", "ZSCORE", "ZUNION", "MEMORY", "OBJECT", "XINFO":
		at, known := Keys(words)
		return known && len(at) > 0
	}
	return false
}
