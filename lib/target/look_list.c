/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look_list.c - the frames of small pages, out of very many page-table entries. */
#include "target/look.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/bytes.h"

uint32_t look_list_plain(const struct look_small *s, const void *words, uint32_t n,
			 uint32_t *to, uint32_t *listed)
{
	const char *at = words;
	uint32_t i = 0, all = 0;

	for (; i + LIST_STRIDE <= n; i += LIST_STRIDE) {
		uint32_t some = 0;
		bool others = false;

		for (unsigned k = 0; k < LIST_STRIDE; k++) {
			uint64_t word = get_le64(at + 8 * (size_t)(i + k));
			bool small = (word & s->mask) == s->value;

			to[all + some] = (uint32_t)((word & s->address) >> s->right);
			some += small;
			others |= word && !small;
		}
		if (others)
			break;
		all += some;
	}
	*listed = all;
	return i;
}

#ifdef __x86_64__
/* A stride is a register. */
__attribute__((target("avx512f,avx512vl,popcnt")))
static uint32_t list_wide(const struct look_small *s, const void *words, uint32_t n,
			  uint32_t *to, uint32_t *listed)
{
	const __m512i mask = _mm512_set1_epi64((long long)s->mask);
	const __m512i value = _mm512_set1_epi64((long long)s->value);
	const __m512i address = _mm512_set1_epi64((long long)s->address);
	const __m128i right = _mm_cvtsi32_si128((int)s->right);
	const uint64_t *at = words;
	uint32_t i = 0, all = 0;

	for (; i + LIST_STRIDE <= n; i += LIST_STRIDE) {
		__m512i word = _mm512_loadu_si512(at + i);
		__mmask8 small = _mm512_cmpeq_epi64_mask(_mm512_and_si512(word, mask), value);
		__m256i pfn;

		if (_mm512_test_epi64_mask(word, word) & ~small)
			break;
		word = _mm512_srl_epi64(_mm512_and_si512(word, address), right);
		pfn = _mm512_cvtepi64_epi32(word);
		_mm256_storeu_si256((__m256i *)(void *)(to + all),
				    _mm256_maskz_compress_epi32(small, pfn));
		all += (uint32_t)__builtin_popcount(small);
	}
	*listed = all;
	return i;
}
#endif

look_list_fn *look_list_best(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return list_wide;
#endif
	return look_list_plain;
}
