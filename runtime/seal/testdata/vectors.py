"""Known answers for runtime/seal, of another implementation: pyca/cryptography.

python3 vectors.py > vectors.json
"""

import json

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand


def extract(salt, secret):
    h = hmac.HMAC(salt, hashes.SHA256())
    h.update(secret)
    return h.finalize()


def expand(root, use, length=32):
    return HKDFExpand(hashes.SHA256(), length, use.encode()).derive(root)


def sha256(b):
    h = hashes.Hash(hashes.SHA256())
    h.update(b)
    return h.finalize()


def nonce(n):
    return bytes(4) + n.to_bytes(8, "big")


SECRET = b"one secret of a test, known to all"
SCOPE = "1 cluster environment"
FRAMES = [b"", b"first", bytes(range(256)) * 5]

root = extract(b"hyperscale secret 1", SECRET)
name = expand(root, "id", 4)
head = b"HSK\x01" + sha256(SCOPE.encode())[:8]
dialer = head + name + bytes(12) + bytes(range(32))
acceptor = head + name + bytes(12) + bytes(range(100, 132))
stream = extract(sha256(dialer + acceptor), root)

out = {"secret": SECRET.decode(), "scope": SCOPE, "name": name.hex(), "dialer": dialer.hex(), "acceptor": acceptor.hex()}
out["frames"] = [f.hex() for f in FRAMES]
for side in ("dialer", "acceptor"):
    chain = expand(stream, "stream from " + side + " " + SCOPE)
    aead = AESGCM(expand(chain, "key"))
    out["from_" + side] = [aead.encrypt(nonce(i), f, None).hex() for i, f in enumerate(FRAMES)]
    after = AESGCM(expand(expand(chain, "next"), "key"))
    out["next_from_" + side] = after.encrypt(nonce(0), FRAMES[1], None).hex()

salt = bytes(range(200, 216))
aead = AESGCM(expand(extract(salt, root), "datagram " + SCOPE))
out["salt"] = salt.hex()
out["datagrams"] = []
for i, f in enumerate(FRAMES):
    clear = b"S\x01" + name + salt + i.to_bytes(8, "big")
    out["datagrams"].append((clear + aead.encrypt(nonce(i), f, clear)).hex())
print(json.dumps(out, indent=1))
