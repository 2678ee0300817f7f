# This is a compressed .cmap file: all object instances are merged together.
# Additional metadata about objects and call edges are inlined with comments for human readers.
# start_kernel -> kmem_cache_init
ffffffff81001000 ffffffff81002000 17
# KMALLOC_alloc_thing
ffffffff811c2233,0,ffff880006a3b300,192,0,0,(null),KMALLOC,(null),kmalloc-192
  ffffffff811c2240,5,6,0
  ffffffff811c2250,0,0,3
# STACK_PAGE
THREAD_STACK,0,ffffc90000000000,32768,0,0,(null),STACK_PAGE,(null),no-slab
  ffffffff811c2248,1,0,0
# GLOBAL_init_task|D
(null),0,ffffffff82010000,5312,0,0,(null),GLOBAL,(null),no-slab
  ffffffff811c2248,0,44,0
prealloced-filp,0,ffff880006a3c040,232,0,0,(null),KMEM_CACHE,(null),filp
