package nats

import (
	"crypto/ed25519"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
)

// The first bytes of keys, as they become letters: S and U.
const (
	prefixSeed = 18 << 3
	prefixUser = 20 << 3
)

const rawSeed = 2 + ed25519.SeedSize + 2 // its prefixes, and a checksum

var keys = base32.StdEncoding.WithPadding(base32.NoPadding)

var (
	errSeed       = errors.New("it is no seed")
	errSeedSum    = errors.New("its checksum is wrong")
	errSeedOwner  = errors.New("it is not the seed of a user")
	errNoJWT      = errors.New("it has no BEGIN NATS USER JWT")
	errNoSeed     = errors.New("it has no BEGIN USER NKEY SEED")
	errSeedInFile = errors.New("its seed cannot be read")
)

// readSeed reads the seed of a user. Its error does not quote it.
func readSeed(text string) (ed25519.PrivateKey, error) {
	raw, err := keys.DecodeString(strings.TrimSpace(text))
	switch {
	case err != nil || len(raw) != rawSeed || raw[0]&0xf8 != prefixSeed:
		return nil, errSeed
	case binary.LittleEndian.Uint16(raw[rawSeed-2:]) != checksum(raw[:rawSeed-2]):
		return nil, errSeedSum
	case raw[0]<<5|raw[1]>>3 != prefixUser:
		return nil, errSeedOwner
	}
	return ed25519.NewKeyFromSeed(raw[2 : rawSeed-2]), nil
}

// publicKey is the name by which a server knows a user's key.
func publicKey(k ed25519.PrivateKey) string {
	raw := append([]byte{prefixUser}, k.Public().(ed25519.PublicKey)...)
	return keys.EncodeToString(binary.LittleEndian.AppendUint16(raw, checksum(raw)))
}

// checksum is CRC-16/XMODEM.
func checksum(b []byte) (sum uint16) {
	for _, c := range b {
		sum ^= uint16(c) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// readCredentials reads a file of credentials: a JWT and the seed that proves it.
func readCredentials(text string) (jwt string, key ed25519.PrivateKey, err error) {
	if jwt = between(text, "BEGIN NATS USER JWT"); jwt == "" {
		return "", nil, errNoJWT
	}
	seed := between(text, "BEGIN USER NKEY SEED")
	if seed == "" {
		return "", nil, errNoSeed
	}
	if key, err = readSeed(seed); err != nil {
		return "", nil, errSeedInFile
	}
	return jwt, key, nil
}

// between returns the first line that is not blank behind the line with a heading.
func between(text, heading string) string {
	_, rest, found := strings.Cut(text, heading)
	if !found {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" {
			if strings.HasPrefix(line, "--") {
				return ""
			}
			return line
		}
	}
	return ""
}
