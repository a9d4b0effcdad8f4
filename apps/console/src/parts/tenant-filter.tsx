import type { VNode } from 'preact'
import { hrefOf } from './route.ts'

/** Shows what is of one tenant alone, for those who see all of them; the filter is in the address of the page. */
export function TenantFilter ({ page, label, tenant }: { page: string, label: string, tenant: string | undefined }): VNode {
  return (
    <form class='filters' role='search' aria-label={label} onSubmit={event => { event.preventDefault() }}>
      <input type='search' aria-label='Tenant' placeholder='Of a tenant' maxLength={200} value={tenant ?? ''} onChange={event => { location.hash = hrefOf([page], { tenant: event.currentTarget.value.trim() }) }} />
    </form>
  )
}
